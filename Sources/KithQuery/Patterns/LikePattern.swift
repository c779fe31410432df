/// The pattern of LIKE: `%` is any text, `_` any character; after the escape character both, and itself, are meant as such.
///
/// Matching takes time in the product of both lengths at worst, and never more.
struct LikePattern {
    private enum Piece: Equatable {
        case character(Unicode.Scalar)
        case anyCharacter
        case anyText
    }

    private let pieces: [Piece]

    /// - Parameters:
    ///   - escape: the escape character; at the end of the pattern it stands for itself.
    ///   - collation: what the characters are compared without; the text is folded already.
    init(_ pattern: String, escape: Unicode.Scalar?, collation: QueryCollation = .exact) {
        var pieces: [Piece] = []
        var isEscaped = false
        func append(_ scalar: Unicode.Scalar) {
            for folded in collation.folded(String(scalar)).unicodeScalars { pieces.append(.character(folded)) }
        }
        for scalar in pattern.unicodeScalars {
            if isEscaped {
                append(scalar)
                isEscaped = false
            } else if scalar == escape {
                isEscaped = true
            } else if scalar == "%" {
                if pieces.last != .anyText { pieces.append(.anyText) }
            } else if scalar == "_" {
                pieces.append(.anyCharacter)
            } else {
                append(scalar)
            }
        }
        if isEscaped, let escape { append(escape) }
        self.pieces = pieces
    }

    /// Whether the whole of the text is as the pattern says.
    func matches(_ text: String) -> Bool {
        let text = Array(text.unicodeScalars)
        var (place, piece) = (0, 0)
        // Where to go on if what follows the last `%` does not fit: it then takes one character more.
        var (retryPlace, retryPiece): (Int, Int?) = (0, nil)
        while place < text.count {
            if piece < pieces.count {
                switch pieces[piece] {
                case .anyText:
                    (retryPlace, retryPiece) = (place, piece + 1)
                    piece += 1
                    continue
                case .anyCharacter:
                    (place, piece) = (place + 1, piece + 1)
                    continue
                case .character(let scalar) where scalar == text[place]:
                    (place, piece) = (place + 1, piece + 1)
                    continue
                default: break
                }
            }
            guard let after = retryPiece else { return false }
            retryPlace += 1
            (place, piece) = (retryPlace, after)
        }
        return pieces[piece...].allSatisfy { $0 == .anyText }
    }
}
