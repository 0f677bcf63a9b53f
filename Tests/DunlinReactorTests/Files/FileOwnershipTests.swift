import Testing

@testable import DunlinReactor

@Suite struct `What is found` {
    private static let user: UInt32 = 1000

    struct Row: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var ownership: FileOwnership
        var expected: FileOwnership.Fault?
        var kind = FileStatus.Kind.file
    }

    private static func file(
        _ permissions: UInt32 = 0o644, owner: UInt32 = user, links: Int = 1, kind: FileStatus.Kind = .file
    ) -> FileOwnership {
        FileOwnership(kind: kind, owner: owner, links: links, permissions: permissions)
    }

    static let rows: [Row] = [
        Row(testDescription: "ours", ownership: file(), expected: nil),
        Row(testDescription: "ours alone", ownership: file(0o600), expected: nil),
        Row(testDescription: "removed meanwhile", ownership: file(links: 0), expected: nil),
        Row(testDescription: "root's", ownership: file(owner: 0), expected: .owner(0)),
        Row(testDescription: "another's", ownership: file(0o600, owner: 1001), expected: .owner(1001)),
        Row(testDescription: "two names", ownership: file(links: 2), expected: .links(2)),
        Row(testDescription: "any number of names", ownership: file(links: .max), expected: .links(.max)),
        Row(testDescription: "the group's", ownership: file(0o664), expected: .group),
        Row(testDescription: "the group's, by nobody else", ownership: file(0o620), expected: .group),
        Row(testDescription: "everybody's", ownership: file(0o602), expected: .others),
        Row(testDescription: "a folder", ownership: file(0o755, kind: .folder), expected: .kind),
        Row(testDescription: "a pipe", ownership: file(kind: .other), expected: .kind),
        Row(
            testDescription: "a folder of folders", ownership: file(0o700, links: 9, kind: .folder), expected: nil,
            kind: .folder),
        Row(
            testDescription: "everybody's folder", ownership: file(0o1777, kind: .folder), expected: .group,
            kind: .folder),
        Row(testDescription: "no folder", ownership: file(), expected: .kind, kind: .folder),
    ]

    @Test(arguments: rows) func `a file counts as the user's own if nobody else can have written it`(row: Row) {
        #expect(row.ownership.fault(as: row.kind, of: Self.user) == row.expected)
    }

    @Test(arguments: [(0o666, 0o644), (0o664, 0o644), (0o777, 0o755), (0o600, 0o600), (0o4622, 0o4600)])
    func `a file counts as the user's own once others may no longer write to it`(permissions: UInt32, expected: UInt32)
    {
        #expect(FileOwnership.closed(permissions) == expected)
        #expect(Self.file(FileOwnership.closed(permissions)).fault(of: Self.user) == nil)
    }
}
