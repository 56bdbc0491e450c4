/** What the log says of an answer that could not be sent. */
import type { Log } from '../../src/base/log.ts'

/** How connections end that somebody has broken off, which is theirs to do: they send what is no HTTP, or go before the end. */
const brokenOff =
  /^(?:HPE_\w+|EPIPE|ECONNRESET|ECONNABORTED|ERR_STREAM_PREMATURE_CLOSE|ERR_STREAM_DESTROYED)$/

/** Makes koa's listener for errors. Of an error of Node's only the code is written: it holds the bytes that came, and credentials in them. */
export function logUnsent(log: Log): (error: NodeJS.ErrnoException) => void {
  return (error) => {
    const { code } = error
    if (code !== undefined && brokenOff.test(code)) log.debug({ code }, 'a response was not sent')
    else log.warn({ err: error }, 'a response was not sent')
  }
}
