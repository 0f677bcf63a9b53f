/// What zlib itself made of two texts, through Python's `zlib` and by hand where a header is unusual.
enum Samples {
    static let text = "Dunlin, dunlin, dunlin: a small wader of the shore."
    /// Long enough for a block with Huffman tables of its own.
    static let lines = (0..<60).map { "\($0) bottles, " }.joined()

    static let gzip = bytes(
        """
        1f8b08000000000000ff7329cdcbc9ccd3514841a1ad1412158a7313737214ca1353528b14f2d3144a3252158a33f28b
        52f50089a996bc33000000
        """)
    static let gzipEmpty = bytes(
        """
        1f8b08000000000000ff03000000000000000000
        """)
    static let gzipStored = bytes(
        """
        1f8b08000000000000ff013300ccff44756e6c696e2c2064756e6c696e2c2064756e6c696e3a206120736d616c6c2077
        61646572206f66207468652073686f72652e89a996bc33000000
        """)
    static let gzipFixed = bytes(
        """
        1f8b08000000000000ff7329cdcbc9ccd3514841a1ad1412158a7313737214ca1353528b14f2d3144a3252158a33f28b
        52f50089a996bc33000000
        """)
    static let gzipDynamic = bytes(
        """
        1f8b08000000000000ff4dd2b90d02010c00c1562880e0fcf1b483448644c0f52f424fb6d9c8cf71797dcff3f3fe5d2f
        b1999bb5d99bb379dbbc6f3e369f10078d17808118908119a0811ab0819bb8e99cb8899bb8899bb8899bb8895bb8855b
        2e18b7700bb7700bb7700bb7711bb771dbcbe2366ee3366ee336eee00eeee00eeef852b8833bb8833bb87f335174b9c6
        020000
        """)
    static let gzipNamed = bytes(
        """
        1f8b081e0000000000030400616263646e616d6500636f6d6d656e7400e2487329cdcbc9ccd3514841a1ad1412158a73
        13737214ca1353528b14f2d3144a3252158a33f28b52f50089a996bc33000000
        """)
    static let gzipBadHeaderCRC = bytes(
        """
        1f8b081e0000000000030400616263646e616d6500636f6d6d656e740000007329cdcbc9ccd3514841a1ad1412158a73
        13737214ca1353528b14f2d3144a3252158a33f28b52f50089a996bc33000000
        """)
    static let zlib = bytes(
        """
        78da7329cdcbc9ccd3514841a1ad1412158a7313737214ca1353528b14f2d3144a3252158a33f28b52f500d6921203
        """)
    static let zlibEmpty = bytes(
        """
        78da030000000001
        """)
    static let zlibSmallWindow = bytes(
        """
        18d34dcfb90d02010c00c1562880e0fcf1b483448644c0f52f424fb6d9688fcbeb7b9e9ff7ef7a89cddcaccdde9ccddb
        e67df3b1f9843868bc000cc4800ccc000dd4800ddcc44d3f7113377113377113377113b7700bb7700bb7700bb7700bb7
        700bb7711bb7711bb7711bb7711bb7711b777007777007777007777007777007f70f2557e2e1
        """)
    static let zlibStored = bytes(
        """
        7801013300ccff44756e6c696e2c2064756e6c696e2c2064756e6c696e3a206120736d616c6c207761646572206f6620
        7468652073686f72652ed6921203
        """)
    static let zlibDictionary = bytes(
        """
        78f908e3028b7301933a0a2928b49542a242716e624e8e4279624a6a91427e9a424946aa4271467e51aa1e00d6921203
        """)
    static let raw = bytes(
        """
        7329cdcbc9ccd3514841a1ad1412158a7313737214ca1353528b14f2d3144a3252158a33f28b52f500
        """)
    static let rawDynamic = bytes(
        """
        4dd2b90d02010c00c1562880e0fcf1b483448644c0f52f424fb6d9c8cf71797dcff3f3fe5d2fb1999bb5d99bb379dbbc
        6f3e369f10078d17808118908119a0811ab0819bb8e99cb8899bb8899bb8899bb8895bb8855b2e18b7700bb7700bb770
        0bb7711bb771dbcbe2366ee3366ee336eee00eeee00eeef852b8833bb8833bb87f
        """)
    static let rawStored = bytes(
        """
        013300ccff44756e6c696e2c2064756e6c696e2c2064756e6c696e3a206120736d616c6c207761646572206f66207468
        652073686f72652e
        """)
    static let rawEmpty = bytes(
        """
        0300
        """)
    static let gzipInZlib = bytes(
        """
        78da93efe6600083ffc59a674f9f3c7339d0c371e15a1121d1ae62e1e2229153c2c141dd229f2e8b7819058976197fea
        0efacad0b972da1e63a00e00753b15cf
        """)
    static let zlibInGzip = bytes(
        """
        1f8b08000000000000ff012f00d0ff78da7329cdcbc9ccd3514841a1ad1412158a7313737214ca1353528b14f2d3144a
        3252158a33f28b52f500d6921203052aa16f2f000000
        """)
    static let rawInGzipInGzip = bytes(
        """
        1f8b08000000000000ff93efe6600083ffdad76caa7f3d9979ba51ae8ffb7a1747679928b7b878e71c213ebe57623f4b
        228f9cd6f0d872fa4770f9857036863fe9f21e9a404d00f58d69fd3e000000
        """)

    private static func bytes(_ hex: String) -> [UInt8] {
        let digits = hex.filter { $0 != "\n" }.map { UInt8($0.hexDigitValue ?? 0) }
        return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }
}
