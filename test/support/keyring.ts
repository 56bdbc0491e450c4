/** A keyring for a test: GNOME Keyring with its own session bus, both in a temporary folder. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const programs = [
  ['dbus-daemon', '--version'],
  ['gnome-keyring-daemon', '--version'],
] as const

/** The reason why this machine cannot run a keyring, if any. */
export function keyringMissing(): string | undefined {
  const missing: string[] = programs
    .filter(([name, flag]) => spawnSync(name, [flag], { stdio: 'ignore' }).status !== 0)
    .map(([name]) => name)
  // An optional dependency, which does not exist for every platform.
  if (!existsSync(new URL('../../node_modules/@napi-rs/keyring', import.meta.url)))
    missing.push('@napi-rs/keyring')
  return missing.length === 0 ? undefined : `${missing.join(' and ')} not installed`
}

export type TestKeyring = {
  /** The environment of a process that uses the keyring. */
  env: Record<string, string>
  [Symbol.asyncDispose](): Promise<void>
}

/** Starts a keyring, unlocked and empty. */
export async function openKeyring(): Promise<TestKeyring> {
  const folder = mkdtempSync(join(tmpdir(), 'keyring-'))
  const own = { HOME: folder, XDG_RUNTIME_DIR: folder, XDG_DATA_HOME: folder }
  const bus = spawn('dbus-daemon', ['--session', '--nofork', '--print-address'], {
    env: { ...process.env, ...own },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const [address] = (await once(bus.stdout, 'data')) as [Buffer]
  const env = { ...own, DBUS_SESSION_BUS_ADDRESS: address.toString().trim() }
  // It runs in the background, and ends with the bus.
  const keyring = spawn('gnome-keyring-daemon', ['--unlock', '--components=secrets'], {
    env: { ...process.env, ...env },
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  keyring.stdin.end('the password of the tests')
  await once(keyring, 'exit')
  return {
    env,
    async [Symbol.asyncDispose]() {
      if (bus.exitCode === null && bus.signalCode === null) {
        const ended = once(bus, 'exit')
        bus.kill()
        await ended
      }
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
