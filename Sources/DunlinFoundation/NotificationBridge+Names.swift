public import Foundation

extension NotificationBridge {
    /// The names that AFNetworking posts under.
    public enum Name {
        public static let taskDidResume = Notification.Name("com.alamofire.networking.task.resume")
        public static let taskDidSuspend = Notification.Name("com.alamofire.networking.task.suspend")
        /// Posted after whoever made the request has been told; what came of it is found under `Key`.
        public static let taskDidComplete = Notification.Name("com.alamofire.networking.task.complete")
        public static let downloadDidMoveFile = Notification.Name(
            "com.alamofire.networking.session.download.file-manager-succeed")
        /// Its `userInfo` is that of the error, as an NSError.
        public static let downloadDidFailToMoveFile = Notification.Name(
            "com.alamofire.networking.session.download.file-manager-error")
        /// Its object is the `Reachability`.
        public static let reachabilityDidChange = Notification.Name("com.alamofire.networking.reachability.change")
        /// The last one; its object is the session.
        public static let sessionDidInvalidate = Notification.Name("com.alamofire.networking.session.invalidate")
    }

    /// What AFNetworking's `userInfo` has things under: when a task is complete, and of reachability.
    public enum Key {
        /// An NSNumber with `Reachability.Status.compatibilityValue`.
        public static let reachabilityStatus = "AFNetworkingReachabilityNotificationStatusItem"
        /// What the serializer made, of a request that was made through a handle; the file's URL of a download.
        public static let serializedResponse = "com.alamofire.networking.task.complete.serializedresponse"
        /// The URL of a downloaded file.
        public static let assetPath = "com.alamofire.networking.task.complete.assetpath"
        /// The `ResponseSerializer`; not there for a stream or a download.
        public static let responseSerializer = "com.alamofire.networking.task.complete.responseserializer"
        /// The body as Data; not there if it was not read as a whole.
        public static let responseData = "com.alamofire.networking.complete.finish.responsedata"
        /// An NSError.
        public static let error = "com.alamofire.networking.task.complete.error"
        /// `HTTPSession.Metrics`, if a connection was asked for.
        public static let metrics = "com.alamofire.networking.complete.sessiontaskmetrics"
    }
}
