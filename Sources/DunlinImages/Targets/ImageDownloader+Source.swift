extension ImageDownloader: ImageSource {}
