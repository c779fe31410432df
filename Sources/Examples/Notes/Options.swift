import Foundation

/// What the command line says.
public struct Options: Sendable {
    /// How a folder comes into a group, once.
    enum Entry: Hashable, Sendable {
        case make(group: String)
        case join(code: String)
    }

    /// A command line that says something else.
    public struct Mistake: Error, CustomStringConvertible {
        /// What is wrong with it.
        public let description: String
    }

    /// What it has to say.
    public static let usage = """
        usage: example-notes --data FOLDER [--group NAME | --join CODE] [--name NAME]
                             [--peer HOST:PORT]... [--listen HOST:PORT] [--no-discovery]
        """

    private(set) var folder = URL(fileURLWithPath: "/")
    private(set) var entry: Entry?
    private(set) var name: String?
    private(set) var peers: [String] = []
    private(set) var listen: String?
    private(set) var usesDiscovery = true

    /// - Parameter arguments: without the name of the program.
    public init(_ arguments: [String]) throws(Mistake) {
        var data: String?
        var rest = arguments[...]
        while let option = rest.popFirst() {
            if option == "--no-discovery" {
                usesDiscovery = false
                continue
            }
            guard let value = rest.popFirst() else {
                throw Mistake(description: "\(option) is unknown, or wants a value")
            }
            switch option {
            case "--data": data = value
            case "--group": entry = .make(group: value)
            case "--join": entry = .join(code: value)
            case "--name": name = value
            case "--peer": peers.append(value)
            case "--listen": listen = value
            default: throw Mistake(description: "\(option) is unknown")
            }
        }
        guard let data else { throw Mistake(description: "--data says where the notes are") }
        folder = URL(fileURLWithPath: data)
    }
}
