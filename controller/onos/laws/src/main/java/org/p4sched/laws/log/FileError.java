package org.p4sched.laws.log;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;

/** Readable reasons of file errors. The message of some of Java's exceptions is only the file's name. */
public final class FileError {
    private FileError() {}

    /** The reason why a file cannot be read or written, without the file's name. */
    public static String reason(IOException error) {
        if (error instanceof NoSuchFileException) {
            return "No such file or directory";
        }
        if (error instanceof AccessDeniedException) {
            return "Permission denied";
        }
        if (error instanceof FileAlreadyExistsException) {
            return "File exists";
        }
        String reason = error instanceof FileSystemException ? ((FileSystemException) error).getReason() : null;
        return reason == null ? error.getMessage() : reason;
    }
}
