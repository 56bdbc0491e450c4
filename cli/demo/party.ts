/** A party of the demo: a daemon with its own folders, and a tenant in it. */
import type { ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import { createClient, type Client } from '../../daemon/client/client.ts'
import { readLocalProfile, writeProfile } from '../../src/foundation/config/profile.ts'
import { variableNames } from '../../src/foundation/config/setting-names.ts'
import { childEnv } from '../client/settings.ts'
import { launchInBackground } from '../daemon/launch.ts'
import { CommandError } from '../errors/errors.ts'
import { tenths } from '../format/time.ts'
import { lastLines } from '../daemon/log.ts'
import { formatLogLine } from '../format/log.ts'
import { toReport } from '../errors/report.ts'
import { shorten } from '../format/text.ts'
import { logPath } from '../../src/foundation/log-file.ts'

export const names = ['acme', 'alice'] as const
export type Name = (typeof names)[number]

/** The time limit for the end of a daemon. */
const patienceMs = 5_000

export type Daemon = {
  name: Name
  child: ChildProcess
  url: string
  didcommUrl: string
  dataDir: string
  adminToken: string
  /** Milliseconds from the start of the process until it is ready. */
  coldStartMs: number
}

/** A tenant of a daemon, and a client with its key. */
export type Party = { name: Name; url: string; apiKey: string; call: Client }

/**
 * Starts a daemon on free ports. The parties share the ledger in `folder` only. The user's settings do not
 * affect them.
 *
 * @throws {CommandError} with the output of the daemon when it does not start.
 */
export async function startDaemon(
  name: Name,
  folder: string,
  onStart: (child: ChildProcess) => void,
): Promise<Daemon> {
  const [dataDir, configDir] = [join(folder, name), join(folder, 'config')]
  const own = {
    AGENT_DATA_DIR: dataDir,
    AGENT_CONFIG_DIR: configDir,
    AGENT_PROFILE: name,
    AGENT_HTTP_PORT: '0',
    AGENT_DIDCOMM_PORT: '0',
    DEFAULT_WALLET_ENABLED: 'false',
    VDR_URL: `sqlite:${join(folder, 'vdr.db')}`,
  }
  const start = performance.now()
  // Detached: Ctrl-C must reach this process only, which then stops the daemons.
  const { child, ready } = launchInBackground(dataDir, childEnv(own, variableNames()), true)
  onStart(child)
  const { url, didcommUrl } = await ready
  await createClient(url)('GET /_system/health')
  const coldStartMs = tenths(performance.now() - start)
  const profile = readLocalProfile(configDir, name)
  if (!profile) throw new CommandError(`${name}’s daemon wrote no profile.`, 1)
  return { name, child, url, didcommUrl, dataDir, adminToken: profile.adminToken, coldStartMs }
}

/** Stops a daemon and waits for its end. */
export async function stopDaemon(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  const force = setTimeout(() => child.kill('SIGKILL'), patienceMs)
  child.kill('SIGTERM')
  await ended
  clearTimeout(force)
}

/**
 * Creates a tenant: wallet, entity and API key. `admin` is a client with the administrator's key. The key is
 * stored in the profile, so that the command line can continue where the demo ends.
 */
export async function onboard(
  daemon: Daemon,
  admin: Client,
  folder: string,
  onKey: (apiKey: string) => void,
): Promise<Party> {
  const { name, url } = daemon
  const apiKey = randomBytes(32).toString('base64url')
  onKey(apiKey)
  const wallet = await admin('POST /wallets', { body: { name } })
  const entity = await admin('POST /iam/entities', { body: { name, walletId: wallet.id } })
  await admin('POST /iam/apikey-authentication', { body: { entityId: entity.id, apiKey } })
  const configDir = join(folder, 'config')
  writeProfile(configDir, name, { ...readLocalProfile(configDir, name)!, apiKey })
  return { name, url, apiKey, call: createClient(url, { apikey: apiKey }) }
}

/** Creates the error of a failed demo, with the warnings and errors of the daemons. */
export function failure(error: unknown, started: Iterable<Name>, folder: string): CommandError {
  const { title, detail, exitCode } = toReport(error, 'demo')
  if (exitCode === 130) return error as CommandError
  const logs = [...started].flatMap((name) => complaints(name, folder))
  return new CommandError([title, detail, ...logs].filter(Boolean).join('\n'), 1)
}

/** Returns the last warnings and errors of a daemon's log. */
function complaints(name: Name, folder: string): string[] {
  const { lines } = lastLines(logPath(join(folder, name)), 200)
  const grave = lines.filter((line) => /"level":[456]0/.test(line) || !line.startsWith('{'))
  return grave.slice(-5).map((line) => shorten(`${name}: ${formatLogLine(line)}`, 500))
}
