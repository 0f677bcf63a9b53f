extension HTTPSession {
    /// What was asked for, taken down when it was asked: what becomes of the session or the options afterwards does not
    /// matter to it.
    struct Call: Sendable {
        let head: RequestHead
        /// What the URL said that is no part of the head.
        let extras: RequestBuilder.Extras?
        let body: RequestBody
        let options: Options
        let reading: Reading
    }
}
