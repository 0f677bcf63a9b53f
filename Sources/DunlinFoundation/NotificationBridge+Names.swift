public import Foundation

extension NotificationBridge {
    /// The names of AFNetworking's notifications.
    public enum Name {
        public static let taskDidResume = Notification.Name("com.alamofire.networking.task.resume")
        public static let taskDidSuspend = Notification.Name("com.alamofire.networking.task.suspend")
        /// Posted after the request's caller has been told. The result is in `userInfo`, under the keys in `Key`.
        public static let taskDidComplete = Notification.Name("com.alamofire.networking.task.complete")
        public static let downloadDidMoveFile = Notification.Name(
            "com.alamofire.networking.session.download.file-manager-succeed")
        /// Its `userInfo` is that of the error as an NSError.
        public static let downloadDidFailToMoveFile = Notification.Name(
            "com.alamofire.networking.session.download.file-manager-error")
        /// Its object is the `Reachability`.
        public static let reachabilityDidChange = Notification.Name("com.alamofire.networking.reachability.change")
        /// The last notification; its object is the session.
        public static let sessionDidInvalidate = Notification.Name("com.alamofire.networking.session.invalidate")
    }

    /// The keys of AFNetworking's `userInfo`, for completed tasks and for reachability.
    public enum Key {
        /// An NSNumber with `Reachability.Status.compatibilityValue`.
        public static let reachabilityStatus = "AFNetworkingReachabilityNotificationStatusItem"
        /// The serializer's value, for a request made through a handle; for a download, the file's URL.
        public static let serializedResponse = "com.alamofire.networking.task.complete.serializedresponse"
        /// The URL of a downloaded file.
        public static let assetPath = "com.alamofire.networking.task.complete.assetpath"
        /// The `ResponseSerializer`; missing for a stream or a download.
        public static let responseSerializer = "com.alamofire.networking.task.complete.responseserializer"
        /// The body as Data; missing if it was not read as a whole.
        public static let responseData = "com.alamofire.networking.complete.finish.responsedata"
        /// The error as an NSError.
        public static let error = "com.alamofire.networking.task.complete.error"
        /// The `HTTPSession.Metrics`, if a connection was requested.
        public static let metrics = "com.alamofire.networking.complete.sessiontaskmetrics"
    }
}
