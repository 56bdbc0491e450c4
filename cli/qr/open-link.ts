/** Opens a link in the default browser. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { release } from 'node:os'
import { setTimeout } from 'node:timers/promises'

/** The longest wait for the program that opens the link. One that shows the page itself runs on. */
const timeoutMs = 2_000

/** Returns why the link was not opened, as a sentence without a full stop. Undefined if it was. */
export async function openLink(
  link: string,
  env: NodeJS.ProcessEnv = process.env,
): Promise<string | undefined> {
  if (!URL.canParse(link) || !/^https?:$/.test(new URL(link).protocol))
    return 'it is not an http or https link'
  const opener = openerFor(env)
  if ('reason' in opener) return opener.reason
  const { command, args } = opener
  const child = spawn(command, [...args, link], { detached: true, stdio: 'ignore', env })
  child.unref()
  const waiting = new AbortController()
  try {
    const ended = await Promise.race([
      once(child, 'exit', { signal: waiting.signal }),
      setTimeout(timeoutMs, undefined, { signal: waiting.signal }),
    ])
    return ended === undefined || ended[0] === 0
      ? undefined
      : `${command} failed with ${ended[0] ?? ended[1]}`
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT'
      ? `the program ${command} is missing`
      : (error as Error).message
  } finally {
    waiting.abort()
  }
}

/** The program of the system, or the reason why there is none. */
function openerFor(env: NodeJS.ProcessEnv): { command: string; args: string[] } | { reason: string } {
  if (process.platform === 'darwin') return { command: 'open', args: [] }
  // A shell would interpret `&` in the link.
  if (process.platform === 'win32' || /microsoft/i.test(release()))
    return { command: 'rundll32.exe', args: ['url.dll,FileProtocolHandler'] }
  if (env['DISPLAY'] || env['WAYLAND_DISPLAY'] || env['BROWSER']) return { command: 'xdg-open', args: [] }
  return { reason: 'there is no display (DISPLAY, WAYLAND_DISPLAY) and no BROWSER' }
}
