/// Bytes to write, with the owner of their memory.
///
/// Many streams can share one owner, so that bytes for all of them exist only once.
package struct OutputBuffer {
    /// The bytes. They must not change or move while `owner` lives.
    package let bytes: UnsafeRawBufferPointer
    /// Retained until the bytes are written or dropped.
    package let owner: AnyObject

    package init(bytes: UnsafeRawBufferPointer, owner: AnyObject) {
        self.bytes = bytes
        self.owner = owner
    }

    /// Copies the bytes into an owner of their own.
    package init(_ bytes: some Collection<UInt8>) {
        let copy = ByteCopy(bytes)
        self.init(bytes: UnsafeRawBufferPointer(copy.memory), owner: copy)
    }
}

private final class ByteCopy {
    let memory: UnsafeMutableRawBufferPointer

    init(_ bytes: some Collection<UInt8>) {
        memory = .allocate(byteCount: bytes.count, alignment: 1)
        memory.copyBytes(from: bytes)
    }

    deinit {
        memory.deallocate()
    }
}
