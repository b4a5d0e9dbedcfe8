/// A store that several servers share, and in which they keep what is to hold on all of them.
package protocol SharedSettings: CommitStore {
    /// A setting's value and its version, which grows with each change; nil if it is as it was at `version`, or was never set.
    func setting(_ key: String, after version: Int) throws -> (value: [UInt8], version: Int)?

    /// Changes a setting, while nobody else does.
    ///
    /// - Parameter body: makes the new value of the present one, which is nil if it was never set; nil leaves it as it is.
    func change(_ key: String, _ body: ([UInt8]?) throws -> [UInt8]?) throws
}

/// What settings are called.
package enum SharedSettingKey {
    /// Who may do what.
    package static let access = "access"
}
