import Dunlin
import DunlinTypes
import LedgerRows
import Testing

@testable import DunlinContent

@Suite struct `Who asks` {
    static let languages: [([String: String], String?)] = [
        ([:], nil), (["LANG": "C"], nil), (["LANG": "POSIX"], nil), (["LANG": "C.UTF-8"], nil), (["LANG": ""], nil),
        (["LANG": "de_DE.UTF-8"], "de-DE"), (["LANG": "ca_ES@valencia"], "ca-ES"), (["LANG": "eo"], "eo"),
        (["LANG": "de_DE", "LC_MESSAGES": "fr_FR"], "fr-FR"),
        (["LANG": "de_DE", "LC_MESSAGES": "fr_FR", "LC_ALL": "it_IT"], "it-IT"),
        (["LANG": "de_DE", "LC_ALL": ""], "de-DE"), (["LANG": "de_DE", "LC_ALL": "C"], nil),
        (["LANG": "de_DE", "LANGUAGE": "de_AT:de:en"], "de-AT, de;q=0.9, en;q=0.8"),
        (["LANG": "C", "LANGUAGE": "de"], nil), (["LANGUAGE": "de"], nil),
        (["LANG": "de_DE", "LANGUAGE": ""], "de-DE"), (["LANG": "de_DE", "LANGUAGE": ":C:en::en"], "en"),
        (
            ["LANG": "de_DE", "LANGUAGE": "a:bb:cc:dd:ee:ff:gg:hh"],
            "bb, cc;q=0.9, dd;q=0.8, ee;q=0.7, ff;q=0.6, gg;q=0.5"
        ),
        (["LANG": "zh-Hant_TW"], "zh-Hant-TW"), (["LANG": "../../etc\r\nX: 1"], nil), (["LANG": "de_D\r\nX"], "de"),
        (["LANG": "ä_Ö"], nil),
    ]

    @Test(.rows("RQ-42", "AP-11"), .rules("9110-12.4.2-1", "9110-12.5.4-1"), arguments: languages)
    func `Accept-Language holds the languages that the environment names`(
        environment: [String: String], expected: String?
    ) {
        #expect(ClientFields.acceptLanguage(environment) == expected)
    }

    @Test(
        .rows("RQ-43", "RQ-44", "AP-12"), .rules("9110-10.1.5-1", "9110-10.1.5-2", "9110-10.1.5-4"),
        arguments: [
            ("photos", "2.1", "photos/2.1"), ("photos", nil, "photos/0"), ("my app", "1 (beta)", "myapp/1beta"),
            ("Fotoš\r\nX: 1", "", "FotoX1/0"), ("照片", "2", "Dunlin/\(LibraryVersion.number)"), ("a/b", "c/d", "ab/cd"),
        ])
    func `User-Agent names the program in characters that a field may hold`(
        process: String, version: String?, expected: String
    ) {
        let text = ClientFields.userAgent(process: process, version: version, kernel: "6.8.0", architecture: "x86_64")
        #expect(text == "\(expected) (Linux 6.8.0; x86_64)")
    }

    @Test(.rows("RQ-42", "RQ-43", "AP-12"), .rules("9110-10.1.2-1", "9110-10.1.5-1", "9110-12.5.2-1", "9110-17.13-1"))
    func `the default fields hold User-Agent and Accept-Language`() throws {
        let fields = HTTPSession.Configuration.defaultFields
        let agent = try #require(fields["User-Agent"])
        #expect(agent.contains("/0 (Linux ") && agent.utf8.allSatisfy { (0x20...0x7E).contains($0) })
        #expect(fields["Accept-Language"] == ClientFields.acceptLanguage)
        let names = ["User-Agent", "Accept", "Accept-Encoding", "Accept-Language"]
        #expect(fields.allSatisfy { names.contains($0.name) })
        #expect(HTTPSession.Configuration.userAgent(program: "x", version: "3").hasPrefix("x/3 (Linux "))
    }
}
