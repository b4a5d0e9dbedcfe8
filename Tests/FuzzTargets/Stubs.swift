enum ServiceProgram { static func run(_ bytes: [UInt8]) throws {} }
enum SessionProgram { static func run(_ bytes: [UInt8]) throws {} }
