import KithDocument
import KithTestSupport
import Testing

@testable import KithReplication

@Suite struct MessageTests {
    /// A frame of each sample, in hex: what is on the wire may not change within a protocol version.
    static let golden: [(name: String, hex: String)] = [
        (
            "hello",
            "0000006401a7018201020281647a73746403676b69746368656e0463302e3105814301020306818501656e6f74657382"
                + "1b112233445566778819012c5820000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f1a00"
                + "011170071a00400000"
        ),
        (
            "databases",
            "0000004202a201818502657461736b73821b112233445566778819012c5820000102030405060708090a0b0c0d0e0f10"
                + "1112131415161718191a1b1c1d1e1f1a00011170028101"
        ),
        ("statements", "0000000803a101824301020340"),
        ("presence", "0000000604a10143090807"),
        ("ping", "0000000d05a20101021b0000018bcfe56800"),
        ("pong", "0000000506a201010224"),
        ("goodbye", "0000001607a2010202716e6f20636f6d6d6f6e2076657273696f6e"),
        ("credit", "0000000708a1011a00040000"),
        ("open", "0000000510a201010202"),
        ("subscribe", "0000001111a2010102821b112233445566778819012c"),
        ("subscribe from the start", "0000000311a10101"),
        ("unsubscribe", "0000001412a301010201036d6e6f207370616365206c656674"),
        (
            "want",
            "0000007c13a30101020703828365646f632d3158180000000000000002aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa581800"
                + "00000000000001bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb8365646f632d32583000000000000000010101010101010101"
                + "010101010101010100000000000000010202020202020202020202020202020240"
        ),
        (
            "ack",
            "0000003614a40101020303821b112233445566778819012c045820000102030405060708090a0b0c0d0e0f1011121314"
                + "15161718191a1b1c1d1e1f"
        ),
        (
            "ack of a reader",
            "0000005b14a60101020303821b112233445566778819012c045820000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
                + "055820000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f0602"
        ),
        ("refused", "0000001615a2010102818265646f632d3169746f6f206c61726765"),
        ("range query", "0000000716a20101024200ff"),
        ("range list", "0000000c17a2010102830019010019ffff"),
        ("compare", "0000000b18a20101028165646f632d31"),
        (
            "changes",
            "000000a620a60101020303821b112233445566778819012c045820000102030405060708090a0b0c0d0e0f1011121314"
                + "15161718191a1b1c1d1e1f0519012d06828319012b65646f632d315819000000000000000002aaaaaaaaaaaaaaaaaaaa"
                + "aaaaaaaaaaaa8319012c6464c3b66b583a01000000000000000101010101010101010101010101010101010203040506"
                + "070800000000000000000102020202020202020202020202020202"
        ),
        (
            "revisions",
            "0000018f21a50101020703f5048165646f632d3205818265646f632d31838958180000000000000002aaaaaaaaaaaaaa"
                + "aaaaaaaaaaaaaaaaaa58180000000000000001bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb4000477b2261223a317d500000"
                + "00000001000000000000000000095000000000000000090000000000010000605819040000000000000001bbbbbbbbbb"
                + "bbbbbbbbbbbbbbbbbbbbbb8958180000000000000003cccccccccccccccccccccccccccccccc58180000000000000002"
                + "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa581800000000000000021111111111111111111111111111111101427b7d583f"
                + "0000000000000000000000000000000005676f6e65000100000000000000050000000000000006047800790002000000"
                + "000000000700000000000000080131582000000000000000060000000000000005000000000000000800000000000000"
                + "076573756d2f31408958180000000000000004dddddddddddddddddddddddddddddddd58180000000000000003cccccc"
                + "cccccccccccccccccccccccccc40034040406040"
        ),
        ("revision chunk", "0000001622a501010207031a000927c0041a000400000543010203"),
        ("feed ended", "0000000f23a30101020303686120726561646572"),
        (
            "unknown",
            "0000003a24a4010102821b112233445566778819012c035820000102030405060708090a0b0c0d0e0f10111213141516"
                + "1718191a1b1c1d1e1f041a00011170"
        ),
        (
            "range digests",
            "0000003a25a3010102821b112233445566778819012c038183190102035820000102030405060708090a0b0c0d0e0f10"
                + "1112131415161718191a1b1c1d1e1f"
        ),
        (
            "range changes",
            "0000007126a3010102828319012b65646f632d315819000000000000000002aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa83"
                + "19012c6464c3b66b583a0100000000000000010101010101010101010101010101010101020304050607080000000000"
                + "000000010202020202020202020202020202020203f4"
        ),
        (
            "compared",
            "0000003c27a4010102821b112233445566778819012c035820000102030405060708090a0b0c0d0e0f10111213141516"
                + "1718191a1b1c1d1e1f048165646f632d31"
        ),
    ]

    @Test("Each message has the bytes that it has always had")
    func goldenBytes() throws {
        #expect(Self.golden.map(\.name) == Samples.messages.map(\.name))
        for ((name, hex), (_, message)) in zip(Self.golden, Samples.messages) {
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
        decoder.append([0, 0, 0, 1, 0x80, 0] + [0, 0, 0, 1, 0xFF, 0] + [0, 0, 0, 0, 0x7F])
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
