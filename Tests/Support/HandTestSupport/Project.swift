import Foundation

/// The project's files.
package enum Project {
    /// The folder of `Package.swift`.
    package static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
}
