import Dunlin
import DunlinTesting
import Folders
import Testing

@Suite(.inClearAndOverTLS, .timeLimit(.minutes(10)))
struct `A batch of downloads` {
    @Test func `a batch counts of a download that goes on only what has come in the batch`() async throws {
        let folder = try Folder()
        let entity = ServedFile(1 << 20)
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            entity.change { $0.faults = [.stall(after: 100_000)] }
            entity.serve(on: stage)
            let first = try stage.session.downloadTask(
                "file", to: .folder(folder.path), resuming: .ifValidatorMatches)
            first.resume()
            try await stage.eventually("the beginning is there") { first.downloaded.wireBytes == 100_000 }
            first.cancel()
            let error = try await NetworkError.thrown { _ = try await first.value }
            #expect(error.resumeData?.offset == 100_000)
            let second = try stage.session.downloadTask(
                "file", to: .folder(folder.path), resuming: .ifValidatorMatches)
            let batch = try stage.session.batch([second])
            let file = try #require(try await batch.values.first)
            #expect(file.resumedAt == 100_000 && file.byteCount == 1 << 20)
            #expect(batch.state.receivedBytes == (1 << 20) - 100_000)
            #expect(second.downloaded.wireBytes == 1 << 20)
        }
    }
}
