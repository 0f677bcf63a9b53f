import Dunlin
import DunlinCommandLine
import DunlinRecording

/// How requests go together with the archive of `--har`.
extension Get {
    /// Runs `work`. With an archive a signal ends it in order, so that the request under way is in the archive.
    func recorded(_ work: @escaping @Sendable () async throws -> ExitCode) async throws -> ExitCode {
        guard options.archive != nil else { return try await work() }
        let running = Task { try await work() }
        let (result, signal) = await Interruption.during {
            await running.result
        } stop: {
            running.cancel()
        }
        if let signal { return signal.code }
        return try result.get()
    }
}

extension HTTPSession.Configuration {
    /// The most of each body that an archive gets.
    private static var recordedBytes: Int { 1 << 20 }

    /// Has sessions write what they send and receive into the archive of this name, behind what it has.
    mutating func record(into path: String) throws(UsageError) {
        do throws(HAR.Problem) {
            observers.append(try HARRecorder(path, .init(bodyLimit: Self.recordedBytes, existing: .append)))
        } catch {
            throw UsageError(
                description: "--har: \(error); give the name of a new file, or of an archive that --har "
                    + "has made")
        }
    }

    /// Returns when the archive is complete. Says what it lacks.
    func finishArchive(_ output: Output) async {
        for case let recorder as HARRecorder in observers {
            do throws(HAR.Problem) { try await recorder.finish() } catch { output.complain("--har: \(error)") }
        }
    }
}
