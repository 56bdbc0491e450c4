/**
 * The process of the daemon. It reads the configuration, locks the folder, binds the ports and opens the agent, in this
 * order, so that a failed start changes nothing.
 *
 * It sends `ready` with the URLs to a connected parent. An error is one sentence on standard error and an exit code.
 */
import type { Server } from 'node:http'
import * as z from 'zod'
import { createAgent } from '../../src/agent.ts'
import { newApiKey } from '../../src/base/api-key.ts'
import { Secret } from '../../src/base/secret.ts'
import { type Config, forgetSecrets } from '../../src/base/config.ts'
import { configure, type Configured } from '../../src/base/configure.ts'
import { openLog, type Log } from '../../src/base/log.ts'
import { type LogFile, ownLogFile } from '../../src/base/log-file.ts'
import { fitOpenFiles } from '../../src/base/open-files.ts'
import { readLocalProfile } from '../../src/base/profile.ts'
import type { StartError } from '../../src/base/start-error.ts'
import { findChangedAddress } from '../../src/doctor/connection-addresses.ts'
import type { ServerCertificate } from '../../src/net/certificate.ts'
import { describeReach } from '../../src/net/reach.ts'
import { announce } from './announce.ts'
import { lockDataFolder } from './data-folder.ts'
import { connectionLimits, countConnections, portOf, stop, urlOf } from './listen.ts'
import { startNode } from './node.ts'
import { runAgent } from './run-agent.ts'
import { startTracing } from './tracing.ts'
import { createNotify, type Notify } from './notify.ts'
import { originOf } from './origin.ts'
import { bindConfigured, loadCertificate, resolveLan } from './ports.ts'
import { createShutdown, type Shutdown } from '../middleware/shutdown.ts'
import { routes } from '../routes/index.ts'

/** The message of a launcher whose end stops the daemon. */
const Stay = z.object({ type: z.literal('stay') })

/** Steps that undo a start, executed in reverse order. */
type Undo = () => unknown

type Origin = ReturnType<typeof originOf>

type Start = { configured: Configured; host: string; origin: Origin; log: Log; undo: Undo[] }

type Started = {
  url: string
  didcommUrl: string
  certificate: string | undefined
  authority: string | undefined
  calls: string
  moved: string[]
}

async function start({ configured, host, origin, log, undo }: Start): Promise<Started> {
  const { config, warning } = fitOpenFiles(configured.config)
  if (warning !== undefined) log.warn(warning)
  const endTracing = startTracing(config, log)
  undo.push(lockDataFolder(config.AGENT_DATA_DIR))
  const shutdown = createShutdown()
  const certificate = await loadCertificate(config, host)
  const [rest, didcomm] = await bindServers(configured, certificate, shutdown, undo)
  const [url, didcommUrl] = [urlOf(rest, host), urlOf(didcomm, host)]
  const dataDir = config.AGENT_DATA_DIR
  const profile = readLocalProfile(config.AGENT_CONFIG_DIR, config.AGENT_PROFILE)
  const remembered = profile?.dataDir === dataDir ? profile : undefined
  const adminToken = config.ADMIN_TOKEN ?? new Secret(remembered?.adminToken ?? newApiKey())
  const urls = { rest: config.REST_SERVICE_URL ?? url, didcomm: config.DIDCOMM_SERVICE_URL ?? didcommUrl }
  const node = config.AGENT_DATABASE_URL ? await startNode(config, log) : undefined
  if (node) undo.splice(1, 0, () => node.close())
  const agent = await createAgent({ ...config, ADMIN_TOKEN: adminToken }, log, urls, remembered, node?.store)
  // The servers stop before the agent, because accepted requests use it.
  undo.splice(node ? 2 : 1, 0, () => agent[Symbol.asyncDispose]())
  undo.unshift(endTracing)
  const startedAt = new Date().toISOString()
  const calls = describeReach(config)
  const running = { pid: process.pid, url, didcommUrl, certificate: certificate?.fingerprint, startedAt }
  // Wallets are only opened for this check if the address has changed.
  const moved =
    remembered?.publicDidcommUrl === urls.didcomm
      ? undefined
      : await findChangedAddress(agent.wallets, urls.didcomm)
  const apiKey = agent.defaultApiKey && { apiKey: agent.defaultApiKey.reveal() }
  const publicDidcommUrl = urls.didcomm
  const announced = {
    kind: 'local' as const,
    ...running,
    ...apiKey,
    adminToken: adminToken.reveal(),
    dataDir,
    publicDidcommUrl,
  }
  undo.push(
    announce(config, log, {
      profile: announced,
      running: { ...running, calls, profile: config.AGENT_PROFILE, ...origin },
      isKnown: remembered?.adminToken === announced.adminToken,
      remember: () => configured.remember({ rest: portOf(rest), didcomm: portOf(didcomm) }),
    }),
  )
  agent.env.metrics.read('agent_http_connections', async () => [
    { labels: { server: 'api' }, value: await countConnections(rest) },
    { labels: { server: 'didcomm' }, value: await countConnections(didcomm) },
  ])
  await runAgent(agent, { rest, didcomm }, undo, { routes, shutdown, node })
  const secured = { certificate: certificate?.fingerprint, authority: certificate?.authorityFile }
  return { url, didcommUrl, ...secured, calls, moved: moved === undefined ? [] : [moved] }
}

/** Binds both servers, which answer 503 until they are served. */
async function bindServers(
  configured: Configured,
  certificate: ServerCertificate | undefined,
  shutdown: Shutdown,
  undo: Undo[],
): Promise<[rest: Server, didcomm: Server]> {
  const { config } = configured
  const servers: Server[] = []
  undo.push(async () => {
    await shutdown.begin()
    const stopped = servers.map(stop)
    shutdown.release()
    await Promise.all(stopped)
  })
  const open = async (...[name, isProxied]: ['AGENT_HTTP_PORT' | 'AGENT_DIDCOMM_PORT', boolean]) => {
    const server = await bindConfigured(
      configured,
      name,
      connectionLimits(config, isProxied),
      certificate && { cert: certificate.cert, key: certificate.key },
    )
    servers.push(server)
    return server
  }
  const rest = await open('AGENT_HTTP_PORT', config.AGENT_TRUST_PROXY)
  return [rest, await open('AGENT_DIDCOMM_PORT', config.MEDIATOR_TRUST_PROXY)]
}

async function undoAll(undo: Undo[]): Promise<void> {
  for (const step of undo.splice(0).toReversed()) await step()
}

export async function main(): Promise<void> {
  const undo: Undo[] = []
  const launcher = watchLauncher()
  try {
    const { configured, host } = await resolveLan(await configure(process.env, process.argv.slice(2)))
    const { config } = configured
    const logFile = ownLogFile(config.AGENT_DATA_DIR)
    const origin = originOf(process.env, process.argv.slice(2), logFile !== undefined)
    forgetSecrets(process.env, config)
    const log = openLog(config.AGENT_LOG_LEVEL, logFile)
    process.on('uncaughtException', (error) => {
      log.fatal({ err: error }, 'unexpected error, please report it: the agent ends')
      // Node writes its diagnostic report (--report-uncaught-exception) only for errors without a handler.
      if (process.report.reportOnUncaughtException) process.report.writeReport(error)
      process.exit(1)
    })
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
    // Bundles that are loaded on demand have a class of their own.
    const isKnown = (error as Error).name === 'StartError'
    process.stderr.write(
      isKnown
        ? `${(error as StartError).message}\n`
        : `The daemon could not start: ${(error as Error).stack ?? String(error)}\n`,
    )
    process.exitCode = isKnown ? (error as StartError).exitCode : 1
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

/** The end of a launcher that has sent `stay` stops the daemon: the IPC channel closes with the launcher's process. */
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

/** The first signal stops the daemon gracefully, the second one at once. */
function stopOnSignal(log: Log, undo: Undo[], launcher: Launcher, notify: Notify): void {
  let isStopping = false
  const onSignal = (signal: NodeJS.Signals) => {
    if (isStopping) process.exit(1)
    isStopping = true
    log.info({ signal }, 'the agent is stopping')
    notify('STOPPING=1')
    undoAll(undo).then(
      () => process.exit(0),
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
