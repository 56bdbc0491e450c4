/**
 * Reports the state of the daemon to systemd (sd_notify(3)).
 *
 * Node.js has no datagram sockets of the local machine, so the program systemd-notify sends the message.
 */
import { spawn } from 'node:child_process'
import type { Log } from '../../src/foundation/log.ts'

export type Notify = (state: 'READY=1' | 'STOPPING=1') => void

/** Returns a function that does nothing when no service manager waits (NOTIFY_SOCKET is unset). */
export function createNotify(env: Readonly<Record<string, string | undefined>>, log: Log): Notify {
  const { NOTIFY_SOCKET, PATH } = env
  if (!NOTIFY_SOCKET) return () => undefined
  return (state) => {
    const child = spawn('systemd-notify', [state], { env: { NOTIFY_SOCKET, PATH }, stdio: 'ignore' })
    child.on('error', (error) => log.error({ err: error }, 'systemd-notify cannot be run'))
    child.on('exit', (code) => {
      if (code !== 0) log.error({ count: code ?? -1 }, 'systemd-notify has failed')
    })
    child.unref()
  }
}
