public import Dunlin
public import Foundation

/// Posts a session's events under AFNetworking's notification names, for code that observes those.
///
/// ```swift
/// let bridge = NotificationBridge(session)
/// let token = NotificationCenter.default.addObserver(
///     forName: NotificationBridge.Name.taskDidComplete, object: nil, queue: nil
/// ) { note in print(note.userInfo?[NotificationBridge.Key.error] ?? "fine") }
/// ```
///
/// Notifications are posted one after another, in the order of `HTTPSession.events`, on a thread of the default pool
/// and never on the main thread; an observer that needs another one specifies its queue. `object` is the session, or a
/// `NotifiedTask` for a task.
///
/// The bridge posts until its session is shut down or the bridge is released. It does not retain the session.
public final class NotificationBridge: Sendable {
    private let objects = NotifiedTasks()
    private let posting: Task<Void, Never>

    /// Creates a bridge that posts events from now on. If observers are slower than requests, the newest `capacity`
    /// events are buffered and older ones are lost.
    public init(_ session: HTTPSession, center: NotificationCenter = .default, keeping capacity: Int = 16_384) {
        let events = session.events(bufferingNewest: capacity)
        // The task ends with the session's events; releasing the bridge cancels it.
        posting = Task.detached { [objects, weak session] in
            for await event in events where !Task.isCancelled {
                guard let notification = Self.notification(of: event, session, objects) else { continue }
                center.post(notification)
            }
        }
    }

    deinit {
        posting.cancel()
    }

    /// Creates a bridge that posts the status of `reachability`, first the current one and then each different one.
    /// Observation begins now, and ends with the bridge.
    public init(_ reachability: Reachability, center: NotificationCenter = .default) {
        posting = Task.detached { [weak reachability, statuses = reachability.statuses] in
            for await status in statuses where !Task.isCancelled {
                center.post(Self.notification(of: status, reachability))
            }
        }
    }

    /// Returns the `object` of this task's notifications, for `addObserver`. Retain it as long as you observe.
    public func object(for id: HTTPSession.TaskID) -> NotifiedTask {
        objects[id]
    }

    private static func notification(of status: Reachability.Status, _ object: Reachability?) -> Notification {
        let number = NSNumber(value: status.compatibilityValue)
        return Notification(
            name: Name.reachabilityDidChange, object: object, userInfo: [Key.reachabilityStatus: number])
    }

    private static func notification(
        of event: HTTPSession.Event, _ session: HTTPSession?, _ objects: NotifiedTasks
    ) -> Notification? {
        switch event {
        // AFNetworking has no such notifications.
        case .downloadResumed, .journalEmptied, .journalIssue, .waitingForConnectivity, .retrying, .interimResponse,
            .reconnecting, .storingEnded:
            nil
        case .reachability(let status): notification(of: status, session?.configuration.reachability)
        case .resumed(let task): Notification(name: Name.taskDidResume, object: objects.task(with: task))
        case .suspended(let task): Notification(name: Name.taskDidSuspend, object: objects.task(with: task))
        case .completed(let completion):
            Notification(
                name: Name.taskDidComplete, object: objects.task(with: completion.task), userInfo: completion.userInfo)
        case .fileMoved(let task, _, _):
            Notification(name: Name.downloadDidMoveFile, object: objects.task(with: task))
        case .fileMoveFailed(let task, let error):
            Notification(
                name: Name.downloadDidFailToMoveFile, object: objects.task(with: task),
                userInfo: NSError(bridging: error).userInfo)
        case .shutDown: Notification(name: Name.sessionDidInvalidate, object: session)
        }
    }
}

extension HTTPSession.Completion {
    /// The details that exist; errors as NSError, bodies as Data.
    fileprivate var userInfo: [String: Any] {
        typealias Key = NotificationBridge.Key
        var info: [String: Any] = [:]
        let fileURL = file.map { URL(filePath: $0.path) }
        info[Key.assetPath] = fileURL
        info[Key.serializedResponse] = fileURL ?? value
        info[Key.responseSerializer] = serializer
        info[Key.responseData] = body.map { Data($0) }
        info[Key.error] = error.map { NSError(bridging: $0, failingURL: shownURL) }
        if !metrics.hops.isEmpty { info[Key.metrics] = metrics }
        return info
    }
}
