public import Foundation

extension NotificationBridge {
    /// The names that AFNetworking posts under.
    public enum Name {
        public static let taskDidResume = Notification.Name("com.alamofire.networking.task.resume")
        public static let taskDidSuspend = Notification.Name("com.alamofire.networking.task.suspend")
        /// Posted after whoever made the request has been told; what came of it is found under `Key`.
        public static let taskDidComplete = Notification.Name("com.alamofire.networking.task.complete")
        /// The last one; its object is the session.
        public static let sessionDidInvalidate = Notification.Name("com.alamofire.networking.session.invalidate")
    }

    /// What AFNetworking's `userInfo` has things under when a task is complete.
    public enum Key {
        /// What the serializer made, of a request that was made through a handle.
        public static let serializedResponse = "com.alamofire.networking.task.complete.serializedresponse"
        /// The `ResponseSerializer`; not there for a stream.
        public static let responseSerializer = "com.alamofire.networking.task.complete.responseserializer"
        /// The body as Data; not there if it was not read as a whole.
        public static let responseData = "com.alamofire.networking.complete.finish.responsedata"
        /// An NSError.
        public static let error = "com.alamofire.networking.task.complete.error"
        /// `Metrics`, if a connection was asked for.
        public static let metrics = "com.alamofire.networking.complete.sessiontaskmetrics"
    }
}
