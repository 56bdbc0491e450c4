/** The daemon tells systemd when it is ready and when it stops. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { Daemon } from '../support/daemon.ts'
import { newFolder } from '../support/folder.ts'
import { until } from '../support/tenants.ts'

const canReceive = ['systemd-notify', 'python3'].every(
  (name) => spawnSync(name, ['--version']).error === undefined,
)
if (!canReceive) console.warn('systemd-notify or python3 is not installed: notifications are not tested.')

/** Node.js has no datagram sockets of the local machine. */
const receiver = `
import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
print('bound', flush=True)
while True: print(s.recv(4096).decode(), flush=True)
`

test.skipIf(!canReceive)('READY=1 when the daemon answers, STOPPING=1 when it ends', async () => {
  const socket = join(newFolder(), 'notify')
  const python = spawn('python3', ['-c', receiver, socket], { stdio: ['ignore', 'pipe', 'inherit'] })
  let said = ''
  python.stdout.on('data', (chunk) => (said += chunk))
  const told = (text: string) =>
    until(
      text,
      () => Promise.resolve(said),
      (all) => all.includes(text),
    )
  try {
    await told('bound')
    await using daemon = await Daemon.start({ NOTIFY_SOCKET: socket, PATH: process.env['PATH']! })
    await told('READY=1')
    expect(said).not.toContain('STOPPING=1')
    expect(await daemon.stop()).toBe(0)
    await told('STOPPING=1')
  } finally {
    python.kill()
    await once(python, 'exit')
  }
})
