import KithDocument
import Testing

/// Many documents from files, and back.
@Suite(.timeLimit(.minutes(10))) struct ImportTests {
    private static let objects = [
        #"{"_id":"a","name":"Åse","n":1}"#, #"{"_id":"b","name":"line\nbreak","n":12345678901234567890}"#,
        #"{"_id":"c","deep":{"x":[1,2,{"y":null}]},"n":0.1}"#,
    ]

    @Test func linesAnArrayAndAnObjectWithOneArrayAreTheSame() async throws {
        try await Lab.open(nodes: 1) { lab in
            let node = try await lab.group(1)[0]
            let forms = [
                Self.objects.joined(separator: "\n"), "[\(Self.objects.joined(separator: ", \n"))]",
                "{ \"list\" : [\(Self.objects.joined(separator: ","))] }\n",
            ]
            var exports: [String] = []
            for (index, form) in forms.enumerated() {
                let name = "from\(index)"
                try await node.kith("db", "create", name)
                let path = "\(lab.folder)/form\(index).json"
                try Files.write(Array(form.utf8), to: path)
                let dry = try await node.json("import", name, path, "--dry-run", "--json")
                #expect(dry["read"]?.integer == 3 && dry["written"]?.integer == 3)
                #expect(try await node.database(name)["documents"]?.integer == 0)
                let result = try await node.json("import", name, path, "--json")
                #expect(result == ["read": 3, "written": 3, "unchanged": 0, "failed": 0])
                // Once more changes nothing.
                let again = try await node.json("import", name, path, "--json")
                #expect(again == ["read": 3, "written": 0, "unchanged": 3, "failed": 0])
                exports.append(try await node.kith("export", name))
            }
            #expect(Set(exports).count == 1)
            #expect(exports[0].split(separator: "\n").count == 3)
            #expect(exports[0].contains(#"{"_id":"b","n":12345678901234567890,"name":"line\nbreak"}"#))
        }
    }

    @Test func idsComeFromAFieldOrAreMade() async throws {
        try await Lab.open(nodes: 1) { lab in
            let node = try await lab.group(1)[0]
            try await node.kith("db", "create", "codes")
            let rows = Array("{\"code\":\"deu\",\"n\":1}\n{\"code\":7,\"n\":2}\n".utf8)
            try await node.kith("import", "codes", "-", "--id", "code", input: rows)
            #expect(try await node.kith("get", "codes", "deu") == #"{"code":"deu","n":1}"#)
            #expect(try await node.kith("get", "codes", "7") == #"{"code":7,"n":2}"#)
            // Made from the content, so a second time finds them.
            try await node.kith("import", "codes", "-", input: Array("{\"n\":3}\n".utf8))
            let documents = try await node.database("codes")["documents"]?.natural
            #expect(documents == 3)
            try await node.kith("import", "codes", "-", input: Array("{\"n\":3}\n".utf8))
            #expect(try await node.database("codes")["documents"]?.natural == documents)

            // What can't be taken in is listed; the others go on.
            let mixed = Array(
                "{\"code\":\"x\"}\n{\"n\":1}\n{\"code\":[]}\n{\"code\":\"y\",\"_z\":1}\n{\"code\":}\n{\"code\":\"z\"}\n"
                    .utf8)
            let result = try await node.run(["import", "codes", "-", "--id", "code", "--json"], input: mixed)
            #expect(result.status == 1)
            #expect(try JSONValue(parsing: result.output) == ["read": 6, "written": 2, "unchanged": 0, "failed": 4])
            let lines = result.errorText.split(separator: "\n").map(String.init)
            #expect(lines.map { String($0.prefix(10)) } == (2...5).map { "document \($0)" }, "\(lines)")
            #expect(lines.count == 4 && lines[3].contains("line 5, column 9"), "\(lines)")
            #expect(lines.allSatisfy { $0.count <= 200 })
            #expect(try await node.kith("get", "codes", "z") == #"{"code":"z"}"#)
        }
    }

    @Test func anExportReadBackIsExportedByteForByte() async throws {
        try await Lab.open(nodes: 2) { lab in
            let nodes = try await lab.group(2)
            for name in ["here", "there"] { try await nodes.makeDatabase(name) }
            try await nodes[0].kith("import", "here", "-", input: RestartTests.documents(300))
            try await nodes[0].kith("import", "here", "-", input: Array(Self.objects.joined(separator: "\n").utf8))
            try await nodes[0].kith("delete", "here", "item-7")
            let exported = try await nodes[0].run(["export", "here"]).output
            try await nodes[0].kith("import", "there", "-", input: exported)
            #expect(try await nodes[0].run(["export", "there"]).output == exported)
            // Another node has another order and the same lines.
            try await nodes.settle("here")
            func sorted(_ bytes: [UInt8]) -> [String] {
                String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init).sorted()
            }
            #expect(sorted(try await nodes[1].run(["export", "here"]).output) == sorted(exported))
            #expect(sorted(exported).count == 302)
        }
    }

    @Test func initialDocumentsAreOneRevisionHoweverOftenTheyAreLoaded() async throws {
        try await Lab.open(nodes: 2) { lab in
            let nodes = try await lab.group(2)
            try await nodes.makeDatabase("built")
            try await nodes.pauseAll()
            let lines = Array(Self.objects.joined(separator: "\n").utf8)
            for node in nodes { try await node.kith("import", "built", "-", "--initial", input: lines) }
            var revisions: [[String?]] = []
            for node in nodes {
                var its: [String?] = []
                for id in ["a", "b", "c"] { its.append(try await node.revision("built", id)) }
                revisions.append(its)
            }
            #expect(revisions[0] == revisions[1] && !revisions[0].contains(nil))
            // An edit outranks initial content, on whichever side and however late that is loaded.
            try await nodes[0].kith("put", "built", "a", #"{"name":"edited"}"#)
            try await nodes.resumeAll()
            try await nodes.settle("built")
            for node in nodes {
                #expect(try await node.kith("get", "built", "a") == #"{"name":"edited"}"#)
                #expect(try await node.revision("built", "b") == revisions[0][1])
                #expect(try await node.json("history", "built", "b", "--json")["revisions"]?.array?.count == 1)
                #expect(try await node.kith("conflicts", "built") == "")
            }
            let again = try await nodes[1].run(["import", "built", "-", "--initial", "--json"], input: lines)
            #expect(try JSONValue(parsing: again.output) == ["read": 3, "written": 0, "unchanged": 3, "failed": 0])
        }
    }
}
