import Dunlin
import Synchronization

/// Hooks that have no opinion and write down that they were asked.
enum RecordingHooks {
    /// Of the scenario that plays; requests inherit it from whoever makes them.
    @TaskLocal static var transcript: Transcript?

    private static func heard(
        _ hook: String, _ task: HTTPSession.TaskSnapshot? = nil, _ line: (Transcript) -> String = { _ in "" }
    ) {
        guard let transcript else { return }
        transcript.heard(hook, task, line(transcript))
    }

    /// How far it came; of what was cut, that it was.
    private static func text(_ progress: HTTPSession.TransferProgress) -> String {
        guard let total = progress.totalBytes, progress.wireBytes < total else { return "\(progress.wireBytes)" }
        return "a part of \(total)"
    }

    /// `owner` is whose they are; nobody's name for the session's.
    static func hooks(of owner: String = "") -> HTTPSession.Hooks {
        var hooks = HTTPSession.Hooks()
        hooks.redirect = { proposal in
            heard(owner + "redirect") { _ in
                "\(proposal.request.method) \(proposal.request.url) \(proposal.response.status.code),"
                    + " next \(proposal.next.method) \(proposal.next.url), count \(proposal.count)"
            }
            return nil
        }
        hooks.replacementBody = { request in
            heard(owner + "needs new body") { _ in "\(request.method) \(request.url)" }
            return nil
        }
        hooks.response = { task, head in
            heard(owner + "response", task) { _ in "\(head.status.code)" }
            return nil
        }
        hooks.storing = { task, head in
            heard(owner + "will cache", task) { _ in "\(head.status.code)" }
            return nil
        }
        hooks.destination = { task, head in
            heard(owner + "destination", task) { _ in "\(head.status.code)" }
            return nil
        }
        hooks.uploadProgress = { task, progress in
            if progress.isFinal { heard(owner + "upload progress", task) { _ in text(progress) } }
        }
        hooks.downloadProgress = { task, progress in
            if progress.isFinal { heard(owner + "download progress", task) { _ in text(progress) } }
        }
        hooks.retrying = { task, attempt in
            heard(owner + "retrying", task) { _ in "\(attempt.cause) +\(attempt.wait)" }
        }
        hooks.transferEnded = { task, error in
            heard(owner + "transfer ended", task) { _ in
                error.map { ($0 as? NetworkError)?.code.rawValue ?? "\($0)" } ?? "well"
            }
        }
        hooks.metrics = { task, metrics in
            heard(owner + "metrics", task) { _ in "\(metrics.hops.count) attempts" }
        }
        hooks.completed = { completion in
            heard(owner + "completed", completion.task) { $0.text(completion) }
        }
        hooks.shutDown = { heard(owner + "shut down") }
        return hooks
    }
}
