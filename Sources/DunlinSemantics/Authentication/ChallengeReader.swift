internal import DunlinTypes

/// Reads lists of challenges (RFC 9110 §11.6.1).
///
/// Rules:
/// 1. A comma ends a parameter or a challenge: which of them, only what follows it says. A name with an equals sign
///    behind it is a parameter of the challenge before; any other word begins a challenge.
/// 2. What cannot be read is passed over up to its comma. If it was a part of a challenge, that challenge is malformed,
///    for what was lost may have been what mattered; the others stay as they are.
/// 3. A quoted string without an end takes the rest of its field with it.
/// 4. There are limits, and what is beyond them is not read: a field that makes them longer in all than `longest`, and
///    challenges after the first `mostChallenges`. One with more than `mostParameters` is not to be answered.
///
/// It looks at no byte more than a few times.
struct ChallengeReader {
    static let longest = 16_384
    static let mostChallenges = 16
    static let mostParameters = 32

    private(set) var challenges: [Challenge] = []
    private var length = 0

    mutating func read(_ value: Bytes) {
        length += value.count
        guard length <= Self.longest else { return }
        var reader = ValueReader(value)
        while true {
            reader.skipBlanks()
            if reader.take(",") { continue }
            guard !reader.isAtEnd, takeElement(&reader) else { return }
        }
    }

    /// Reads an element; returns false if no more is to be read.
    private mutating func takeElement(_ reader: inout ValueReader) -> Bool {
        let start = reader
        guard let word = reader.token() else {
            reader.skipElement()
            return true
        }
        let afterWord = reader.position
        reader.skipBlanks()
        if reader.next == UInt8(ascii: "=") {
            reader = start
            takeParameter(&reader)
            return true
        }
        guard challenges.count < Self.mostChallenges else { return false }
        challenges.append(Challenge(scheme: word))
        if reader.isAtElementEnd { return true }
        if reader.position == afterWord {
            spoil(.malformed)
            reader.skipElement()
        } else {
            takeFirst(&reader)
        }
        return true
    }

    /// Reads what follows a scheme and a blank: a parameter, or the only token of the challenge. Both may begin alike:
    /// `abc=` is a token, `abc=d` is a parameter.
    private mutating func takeFirst(_ reader: inout ValueReader) {
        var ahead = reader
        if let token = ahead.token68(), ahead.isAtElementEnd {
            challenges[challenges.count - 1].token68 = token
            reader = ahead
        } else {
            takeParameter(&reader)
        }
    }

    private mutating func takeParameter(_ reader: inout ValueReader) {
        guard let (name, value) = reader.parameter() else {
            spoil(.malformed)
            reader.skipElement()
            return
        }
        guard let last = challenges.indices.last else { return }
        if challenges[last].token68 != nil {
            spoil(.malformed)
        } else if challenges[last].parameters[name] != nil {
            spoil(.repeated(name))
        } else if challenges[last].parameters.count == Self.mostParameters {
            spoil(.tooManyParameters)
        } else {
            challenges[last].parameters[name] = value
        }
    }

    /// Marks the challenge as unusable. The first problem is the one reported.
    private mutating func spoil(_ problem: ChallengeProblem) {
        guard let last = challenges.indices.last else { return }
        challenges[last].problem = challenges[last].problem ?? problem
    }
}
