import Dunlin
import LedgerRows
import Testing

@testable import DunlinTransfers

@Suite struct `Placement of a file` {
    @Test(arguments: [
        ("/data/disk.img", "/data", "disk.img"), ("/disk.img", "/", "disk.img"), ("/a//b///c", "/a//b", "c"),
        ("/data/...", "/data", "..."), ("/data/ ", "/data", " "),
    ])
    func `a placement consists of a folder and a name`(path: String, folder: String, name: String) {
        let placement = Placement(path: path, suggestedName: "x")
        #expect(placement?.folder == folder)
        #expect(placement?.name == name)
        #expect(placement?.path == (folder == "/" ? "/" + name : folder + "/" + name))
    }

    @Test(arguments: ["", "/", "/data/", "/data/.", "/data/..", "name"])
    func `a path that names no file has no placement`(path: String) {
        #expect(Placement(path: path, suggestedName: "x") == nil)
    }

    @Test func `a part lies hidden beside its file, under a name that shows what it is`() {
        let placement = Placement(folder: "/data/", suggestedName: "disk.img")
        #expect(placement.path == "/data/disk.img")
        #expect(placement.partPath(0xAB) == "/data/.00000000000000ab.dunlin-part")
        #expect(Placement.record(ofPart: ".x.dunlin-part") == ".x.dunlin-record")
        #expect(Placement(folder: "/", suggestedName: "a").partPath(.max) == "/.ffffffffffffffff.dunlin-part")
    }

    @Test(
        .rows("SM-66"),
        arguments: [
            (nil, "text/html", true), (["image/png"], nil, true), (["image/png"], "image/png", true),
            (["IMAGE/png"], "image/PNG; q=1", true), (["image/*"], "image/gif", true),
            (["image/*"], "imagery/gif", false),
            (["*/*"], "x/y", true), (["image/png", "text/plain"], "text/plain", true),
            (["image/png"], "text/html", false),
        ] as [([String]?, String?, Bool)])
    func `a download accepts content types by name or by pattern`(accepted: [String]?, declared: String?, isTaken: Bool)
    {
        let options = HTTPSession.DownloadOptions(contentTypes: accepted.map { HTTP.ContentTypes($0) })
        var head = ResponseHead(version: .http11, status: 200)
        if let declared { head.fields["Content-Type"] = declared }
        let rules = HTTP.ResponseRules(contentTypes: options.contentTypes)
        #expect((rules.refusal(of: head, in: nil) == nil) == isTaken)
    }

    @Test(arguments: [
        "disk.img", String(repeating: "n", count: 240), String(repeating: "n", count: 241),
        String(repeating: "é", count: 127),
    ])
    func `a part is found again, however long its file's name is`(name: String) {
        let placement = Placement(folder: "/data", suggestedName: name)
        let found = placement.partPath.split(separator: "/").last.map(String.init) ?? ""
        #expect(found.utf8.count <= 255 && Placement.record(ofPart: found).utf8.count <= 255)
        #expect((found == ".\(name).dunlin-part") == (name.utf8.count <= 240))
        #expect(placement.partPath == Placement(path: "/data/\(name)", suggestedName: "x")?.partPath)
        #expect(Placement.part(ofRecord: Placement.record(ofPart: found)) == found)
    }

    @Test func `a part counts as litter by its name only if it has no record`() {
        let names = [
            ".a.dunlin-part", ".b.dunlin-part", ".b.dunlin-record", "c.dunlin-part", ".d.part", "dunlin-part",
            ".dunlin-part", ".e.dunlin-record", "f.dunlin-record",
        ]
        #expect(PartSweep.suspects(among: names) == [".a.dunlin-part", ".dunlin-part", ".e.dunlin-record"])
    }
}
