import KithDocument
import KithTestSupport
import Testing

@testable import KithReplication

@Suite struct MessageTests {
    @Test("Each message has the bytes that it has always had")
    func goldenBytes() throws {
        #expect(GoldenFrames.all.map(\.name) == Samples.messages.map(\.name))
        for ((name, hex), (_, message)) in zip(GoldenFrames.all, Samples.messages) {
            #expect(Hex.encode(Samples.encoded(message)) == hex, "\(name)")
        }
        #expect(Set(Samples.messages.map(\.message.type)) == Set(FrameType.allCases))
    }

    @Test("Each message is read back as it was written, wherever its frame is split")
    func roundTrip() throws {
        for (name, message) in Samples.messages {
            let bytes = Samples.encoded(message)
            for split in 0...bytes.count {
                var decoder = FrameDecoder()
                decoder.append(Array(bytes[..<split]))
                let early = try decoder.next()
                #expect((early != nil) == (split == bytes.count), "\(name)")
                decoder.append(Array(bytes[split...]))
                let late = try decoder.next()
                let frame = try #require(early ?? late)
                #expect(try Message(frame) == message, "\(name) split at \(split)")
                #expect(decoder.held == 0)
            }
        }
    }

    @Test("A message cut short is refused")
    func truncated() throws {
        for (name, message) in Samples.messages {
            let payload = Array(Samples.encoded(message)[Frame.headBytes...])
            for count in 0..<payload.count {
                let frame = Frame(type: message.type, payload: Array(payload[..<count]))
                #expect(throws: ProtocolError.self, "\(name) cut at \(count)") { try Message(frame) }
            }
            #expect(throws: ProtocolError.self) { try Message(Frame(type: message.type, payload: payload + [0])) }
        }
    }

    @Test("Unknown keys are skipped")
    func unknownKeys() throws {
        for (name, message) in Samples.messages {
            var payload = Array(Samples.encoded(message)[Frame.headBytes...])
            #expect(payload[0] >> 5 == 5 && payload[0] & 31 < 22)
            payload[0] += 2
            // 100: [1, {"a": 1.5, "b": h'00'}], 101: null
            payload += [0x18, 100, 0x82, 1, 0xA2, 0x61, 0x61, 0xF9, 0x3E, 0x00, 0x61, 0x62, 0x41, 0, 0x18, 101, 0xF6]
            #expect(try Message(Frame(type: message.type, payload: payload)) == message, "\(name)")
        }
    }

    @Test("Bytes changed at random are refused or read as another message, and never trap", arguments: [1, 2, 3, 4])
    func mutations(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for (_, message) in Samples.messages {
            let original = Samples.encoded(message)
            for _ in 0..<2000 {
                var bytes = original
                for _ in 0...random.below(4) {
                    switch random.below(4) {
                    case 0: bytes[random.below(bytes.count)] = UInt8(random.below(256))
                    case 1: bytes[random.below(bytes.count)] ^= 1 << UInt8(random.below(8))
                    case 2: bytes.insert(UInt8(random.below(256)), at: random.below(bytes.count + 1))
                    default: if bytes.count > 1 { bytes.remove(at: random.below(bytes.count)) }
                    }
                }
                var decoder = FrameDecoder()
                var rest = bytes[...]
                do throws(ProtocolError) {
                    while !rest.isEmpty {
                        let piece = Array(rest.prefix(1 + random.below(64)))
                        rest = rest.dropFirst(piece.count)
                        decoder.append(piece)
                        while let frame = try decoder.next() { _ = try Message(frame) }
                        #expect(decoder.held <= bytes.count)
                    }
                } catch {
                    #expect(!error.message.isEmpty)
                }
            }
        }
    }

    @Test(
        "A payload changed at random within its length decodes to a message that encodes again to the same bytes",
        arguments: [5, 6])
    func canonical(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for (name, message) in Samples.messages {
            let original = Array(Samples.encoded(message)[Frame.headBytes...])
            for _ in 0..<1000 {
                var payload = original
                payload[random.below(payload.count)] = UInt8(random.below(256))
                guard let read = try? Message(Frame(type: message.type, payload: payload)) else { continue }
                if case .revisions(let revisions) = read,
                    revisions.deliveries.contains(where: { if case .unreadable = $0 { true } else { false } })
                {
                    continue
                }
                // A key that became unknown is skipped, and one may have lost its default: the same message again.
                let again = Array(Samples.encoded(read)[Frame.headBytes...])
                #expect(try Message(Frame(type: message.type, payload: again)) == read, "\(name) seed \(seed)")
            }
        }
    }

    @Test("A revision that can't be read makes its document unreadable and no other")
    func unreadable() throws {
        let good = Delivery(document: Samples.document("good"), items: Samples.delivery.items)
        let revisions = Revisions(
            feed: 1, request: 1, isFinal: true, deliveries: [.whole(Samples.delivery), .whole(good)], gone: [])
        var payload = Array(Samples.encoded(.revisions(revisions))[Frame.headBytes...])
        // The first revision's kind, after its parent, becomes 9.
        let body = try #require(payload.firstRange(of: Array("G{\"a\":1}".utf8)))
        payload[body.lowerBound - 1] = 9
        guard case .revisions(let read) = try Message(Frame(type: .revisions, payload: payload)) else { return }
        #expect(
            read.deliveries[0]
                == .unreadable(
                    Samples.document("doc-1"), Samples.delivery.items.map(\.revision.id),
                    reason: "a revision has the unknown kind 9"))
        #expect(read.deliveries[1] == .whole(good))
    }

    @Test("A frame is judged by its length before its bytes come")
    func frameLimits() throws {
        for type in FrameType.allCases {
            var decoder = FrameDecoder()
            let length = type.limit + 1
            decoder.append((0..<4).map { UInt8(truncatingIfNeeded: length >> (24 - 8 * $0)) })
            #expect(try decoder.next() == nil)
            decoder.append([type.rawValue])
            #expect(throws: ProtocolError.self) { try decoder.next() }
        }
        var decoder = FrameDecoder()
        decoder.append([0, 0, 0, 1, 0xF0, 0] + [0, 0, 0, 1, 0xFF, 0] + [0, 0, 0, 0, 0x7F])
        #expect(throws: ProtocolError("a frame has the unknown type 127")) { try decoder.next() }
    }

    @Test("A text is cut at whole characters")
    func cutText() {
        #expect("abc".prefix(bytes: 3) == "abc")
        #expect("aé".prefix(bytes: 2) == "a")
        #expect("日本".prefix(bytes: 5) == "日")
        #expect("日本".prefix(bytes: 0) == "")
    }
}
