/**
 * The process of the daemon. It reads the configuration, locks the folder, binds the ports and opens the
 * agent, in this order, so that a failed start changes nothing.
 *
 * It sends `ready` with the URLs to a connected parent. An error is one sentence on standard error and an
 * exit code.
 */
import * as z from 'zod'
import { newApiKey } from '../src/foundation/api-key.ts'
import { Secret } from '../src/foundation/secret.ts'
import { type Config, forgetSecrets } from '../src/foundation/config/config.ts'
import { configure, type Configured } from '../src/foundation/config/configure.ts'
import { openLog, type Log } from '../src/foundation/log.ts'
import { type LogFile, ownLogFile } from '../src/foundation/log-file.ts'
import { fitOpenFiles } from '../src/foundation/config/open-files.ts'
import { assertSameStore, type LocalProfile, readLocalProfile } from '../src/foundation/config/profile.ts'
import { describeReach } from '../src/foundation/net/reach.ts'
import { addressOf } from '../src/foundation/storage/postgres/open.ts'
import { announce } from './server/announce.ts'
import { lockDataFolder } from './server/data-folder.ts'
import { endOnUncaught, toFailure } from './server/failure.ts'
import { nameOfNode, startNode } from './server/node.ts'
import { runAgent } from './server/run-agent.ts'
import { startTracing } from './server/tracing.ts'
import { createNotify, type Notify } from './server/notify.ts'
import { originOf } from './server/origin.ts'
import { bindServers, openAgent, stopLimitMs, undoAll, undoInTime, type Undo } from './server/open-agent.ts'
import { resolveLan } from './server/ports.ts'
import { routes } from './routes/index.ts'

/** The message of a launcher whose end stops the daemon. */
const Stay = z.object({ type: z.literal('stay') })

type Start = {
  configured: Configured
  host: string
  origin: ReturnType<typeof originOf>
  log: Log
  undo: Undo[]
}

/** The administrator's token, and the profile that the last start has written. */
type Identity = { adminToken: Secret; remembered: LocalProfile | undefined }

type Started = {
  url: string
  didcommUrl: string
  certificate?: string | undefined
  authority?: string | undefined
  calls: string
  moved: string[]
}

/** An agent that is open. `run` has it serve requests. */
type Serving = Omit<Started, 'calls'> & {
  publicDidcommUrl: string
  ports: { rest: number; didcomm: number }
  apiKey?: string | undefined
  run: () => Promise<void>
}

async function start(given: Start): Promise<Started> {
  const { config, warning } = fitOpenFiles(given.configured.config)
  const { origin, log, undo } = given
  const configured = { ...given.configured, config }
  if (warning !== undefined) log.warn(warning)
  undo.push(startTracing(config, log), lockDataFolder(config.AGENT_DATA_DIR))
  const { AGENT_DATA_DIR: dataDir } = config
  const profile = readLocalProfile(config.AGENT_CONFIG_DIR, config.AGENT_PROFILE)
  assertSameStore(config, profile)
  const remembered = profile?.dataDir === dataDir ? profile : undefined
  const adminToken = config.ADMIN_TOKEN ?? new Secret(remembered?.adminToken ?? newApiKey())
  const opened = await open({ ...given, configured, adminToken, remembered })
  const { url, didcommUrl, publicDidcommUrl, apiKey, certificate, authority, moved } = opened
  const calls = describeReach(config)
  const database = config.AGENT_DATABASE_URL && addressOf(config.AGENT_DATABASE_URL.reveal())
  const kept =
    database === undefined
      ? { store: 'SQLite files' }
      : { store: `PostgreSQL at ${database}`, node: nameOfNode(config) }
  const running = { pid: process.pid, url, didcommUrl, certificate, startedAt: new Date().toISOString() }
  const announced = {
    kind: 'local' as const,
    ...running,
    ...(apiKey !== undefined && { apiKey }),
    adminToken: adminToken.reveal(),
    dataDir,
    publicDidcommUrl,
    database,
  }
  undo.push(
    announce(config, log, {
      profile: announced,
      running: { ...running, ...kept, calls, profile: config.AGENT_PROFILE, ...origin },
      isKnown: remembered?.adminToken === announced.adminToken,
      remember: () => configured.remember(opened.ports),
    }),
  )
  await opened.run()
  return { url, didcommUrl, certificate, authority, calls, moved }
}

async function open(options: Start & Identity): Promise<Serving> {
  const { configured, log, undo } = options
  const { config } = configured
  const openNode = () => (config.AGENT_DATABASE_URL ? startNode(config, log) : Promise.resolve(undefined))
  const { agent, servers, shutdown, node, certificate, ...opened } = await openAgent({
    ...options,
    openServers: (certificate) => bindServers(configured, certificate),
    openNode,
  })
  return {
    ...opened,
    apiKey: agent.defaultApiKey?.reveal(),
    certificate: certificate?.fingerprint,
    authority: certificate?.authorityFile,
    run: () => runAgent(agent, servers, undo, { routes, shutdown, node }),
  }
}

export async function main(): Promise<void> {
  const undo: Undo[] = []
  const launcher = watchLauncher()
  try {
    const [env, flags] = [{ ...process.env }, process.argv.slice(2)]
    const { configured, host } = await resolveLan(await configure(env, flags))
    const { config } = configured
    const logFile = ownLogFile(config.AGENT_DATA_DIR)
    const origin = originOf(env, flags, logFile !== undefined)
    forgetSecrets(process.env, config)
    const log = openLog(config.AGENT_LOG_LEVEL, logFile)
    endOnUncaught(log)
    for (const reason of configured.warnings) log.warn({ reason }, 'the configuration may have a mistake')
    const { calls, moved, ...secured } = await start({ configured, host, origin, log, undo })
    if (logFile) rotate(logFile, log, config)
    const notify = createNotify(process.env, log)
    stopOnSignal(log, undo, launcher, notify)
    for (const reason of moved) log.warn({ reason }, 'the address of connections has changed')
    const { url, didcommUrl } = secured
    log.info({ url, didcommUrl, dataDir: config.AGENT_DATA_DIR }, 'the agent is ready')
    log.info({ reason: calls }, 'outgoing calls are limited')
    notify('READY=1')
    const warnings = [...configured.warnings, ...moved]
    process.send?.({ type: 'ready', ...secured, calls, warnings, pid: process.pid })
  } catch (error) {
    await undoAll(undo)
    const { message, exitCode } = toFailure(error)
    process.stderr.write(`${message}\n`)
    process.exitCode = exitCode
    process.disconnect?.()
  }
}

/** Limits the log's file, which is this daemon's own since the folder is locked. */
function rotate(file: LogFile, log: Log, { AGENT_LOG_MAX_BYTES, AGENT_LOG_FILES }: Config): void {
  file.rotate({
    maxBytes: AGENT_LOG_MAX_BYTES,
    files: AGENT_LOG_FILES,
    onMissing: (count) => log.warn({ count }, 'log lines are missing: there was no room for them'),
    onFault: (error) => log.error({ err: error }, 'the log file grows, because it cannot be copied'),
  })
}

type Launcher = { whenGone: (stop: () => void) => void }

/**
 * The end of a launcher that has sent `stay` stops the daemon: the IPC channel closes with the launcher's
 * process.
 */
function watchLauncher(): Launcher {
  let stays = false
  let onGone: (() => void) | undefined
  process.on('message', (message) => (stays ||= Stay.safeParse(message).success))
  process.on('disconnect', () => {
    if (stays) onGone?.()
  })
  return {
    whenGone(stop) {
      onGone = stop
      if (stays && !process.connected) stop()
    },
  }
}

/** The first signal stops the daemon gracefully, in nine seconds at most; the second one at once. */
function stopOnSignal(log: Log, undo: Undo[], launcher: Launcher, notify: Notify): void {
  let isStopping = false
  const onSignal = (signal: NodeJS.Signals) => {
    if (isStopping) process.exit(1)
    isStopping = true
    log.info({ signal }, 'the agent is stopping')
    notify('STOPPING=1')
    undoInTime(undo, stopLimitMs).then(
      (isDone) => {
        if (!isDone)
          log.warn({ ms: stopLimitMs }, 'the agent did not stop in time: what is left ends with the process')
        process.exit(0)
      },
      (error: unknown) => {
        log.error({ err: error }, 'the agent did not stop gracefully')
        process.exit(1)
      },
    )
  }
  launcher.whenGone(() => isStopping || onSignal('SIGHUP'))
  process.on('SIGTERM', onSignal)
  process.on('SIGINT', onSignal)
}
