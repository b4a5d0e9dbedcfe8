import CLibFuzzer
import FuzzTargets

/// `hand-fuzz TARGET [libFuzzer's arguments]`; `.ci/fuzz` builds it and runs it.
@main enum Fuzz {
    static func main() {
        guard Chosen.target != nil else {
            print("usage: hand-fuzz \(FuzzTarget.allCases.map(\.rawValue).joined(separator: "|")) [ARGUMENT…]")
            return
        }
        // libFuzzer gets the target's name as the program's name.
        var count = CommandLine.argc - 1
        var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv + 1
        _ = withUnsafeMutablePointer(to: &arguments) { run(&count, $0) }
    }
}

/// The chosen target. The fuzzer's callback cannot capture anything.
private enum Chosen {
    static let target = CommandLine.arguments.dropFirst().first.flatMap(FuzzTarget.init(rawValue:))
}

private func run(
    _ count: inout Int32, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>
) -> Int32 {
    LLVMFuzzerRunDriver(&count, arguments) { data, size in
        let input = Array(UnsafeBufferPointer(start: data, count: size))
        do { try Chosen.target?.run(input) } catch { fatalError("\(error)") }
        return 0
    }
}
