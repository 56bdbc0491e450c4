/** Asks the terminal a question by control sequences, and reads its reply from standard input. */
import type { ReadStream } from 'node:tty'

/** Returns the reply up to `end`, or what came in time. Empty where there is no terminal. */
export type Ask = (question: string, end: RegExp) => Promise<string>

/** The longest wait for a reply. Terminals reply at once, remote ones after a round trip. */
const timeoutMs = 500

type Terminal = {
  input: Pick<ReadStream, 'isTTY' | 'setRawMode' | 'on' | 'off' | 'resume' | 'pause'>
  output: { isTTY?: boolean; write: (text: string) => unknown }
}

/** Asks the terminal of this process. A reply is neither shown nor left for the shell if it comes in time. */
export async function askTerminal(
  question: string,
  end: RegExp,
  { input, output }: Terminal = { input: process.stdin, output: process.stdout },
): Promise<string> {
  if (!input.isTTY || !output.isTTY) return ''
  input.setRawMode(true)
  let reply = ''
  await new Promise<void>((resolve) => {
    const finish = () => {
      clearTimeout(timer)
      input.off('data', read)
      input.pause()
      input.setRawMode(false)
      resolve()
    }
    const timer = setTimeout(finish, timeoutMs)
    const read = (chunk: Buffer) => {
      reply += chunk.toString('latin1')
      if (end.test(reply) || reply.includes('\u0003')) finish()
    }
    input.on('data', read)
    input.resume()
    output.write(question)
  })
  // In raw mode, Ctrl-C is a character.
  if (reply.includes('\u0003')) process.kill(process.pid, 'SIGINT')
  return reply
}
