/// A store that several servers share, with settings that apply to all of them.
package protocol SharedSettings: CommitStore {
    /// Returns a setting's value and its version, which grows with each change. Returns nil if the setting has not
    /// changed since `version`, or was never set.
    func setting(_ key: String, after version: Int) throws -> (value: [UInt8], version: Int)?

    /// Changes a setting atomically.
    ///
    /// - Parameter body: returns the new value, given the current value (nil if the setting was never set). If it
    ///   returns nil, the setting stays unchanged.
    func change(_ key: String, _ body: ([UInt8]?) throws -> [UInt8]?) throws
}

package enum SharedSettingKey {
    /// Who may do what.
    package static let access = "access"
}
