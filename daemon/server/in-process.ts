/**
 * Agents inside another program, such as a test: any number in one process, without profiles, signals and
 * environment variables.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Agent } from '../../src/agent/agent.ts'
import { newApiKey } from '../../src/foundation/api-key.ts'
import { readConfig, variables, type Config } from '../../src/foundation/config/config.ts'
import { createLog, openLog, type Log } from '../../src/foundation/log.ts'
import { fitOpenFiles } from '../../src/foundation/config/open-files.ts'
import { Secret } from '../../src/foundation/secret.ts'
import { StartError } from '../../src/foundation/start-error.ts'
import { tracingVariables } from '../../src/foundation/config/tracing.ts'
import type { Route } from '../http/route.ts'
import { routes as allRoutes } from '../routes/index.ts'
import { lockDataFolder } from './data-folder.ts'
import { bind, connectionLimits, stop, urlOf } from './listen.ts'
import { startNode } from './node.ts'
import { createServed, type Undo, undoAll } from './open-agent.ts'
import { runAgent } from './run-agent.ts'

export type Served = {
  agent: Agent
  /** Base URL of the HTTP API. */
  url: string
  didcommUrl: string
  /** Waits for accepted requests and closes everything. */
  close: () => Promise<void>
}

/** `routes` replaces the agent's. `checkReplies`: a reply that does not match its contract is a failure. */
export type ServeOptions = { routes?: readonly Route[] | undefined; checkReplies?: boolean }

/**
 * Binds both servers, opens the agent in its data folder, which must exist, and serves it.
 *
 * @throws {StartError} when it cannot. Nothing is open then.
 */
export async function serveAgent(
  config: Config,
  log: Log,
  { routes = allRoutes, checkReplies = false }: ServeOptions = {},
): Promise<Served> {
  const undo: Undo[] = []
  const close = () => undoAll(undo)
  try {
    const { AGENT_HOST: host, AGENT_TRUST_PROXY, MEDIATOR_TRUST_PROXY } = config
    const listen = (name: 'AGENT_HTTP_PORT' | 'AGENT_DIDCOMM_PORT', isProxied: boolean) =>
      bind(host, config[name], `${name} names it: 0 selects a free one.`, connectionLimits(config, isProxied))
    const rest = await listen('AGENT_HTTP_PORT', AGENT_TRUST_PROXY)
    const servers = [rest]
    undo.push(() => Promise.all(servers.map(stop)))
    const didcomm = await listen('AGENT_DIDCOMM_PORT', MEDIATOR_TRUST_PROXY)
    servers.push(didcomm)
    const [url, didcommUrl] = [urlOf(rest, host), urlOf(didcomm, host)]
    const urls = { rest: config.REST_SERVICE_URL ?? url, didcomm: config.DIDCOMM_SERVICE_URL ?? didcommUrl }
    const node = config.AGENT_DATABASE_URL ? await startNode(config, log) : undefined
    const agent = await createServed({ config, log, urls, undo, before: 0, node })
    await runAgent(agent, { rest, didcomm }, undo, { routes, checkReplies, node })
    return { agent, url, didcommUrl, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** The variables of docs/operate/configuration.md that are not settings, with the reason. */
const others = {
  AGENT_DATA_DIR: 'the option dataDir names the folder',
  AGENT_CONFIG_DIR: 'an agent in a program writes no profile',
  AGENT_PROFILE: 'an agent in a program writes no profile',
  AGENT_CONFIG_FILE: 'the option settings has all settings',
  AGENT_HTTPS: 'an agent in a program speaks HTTP',
  AGENT_TLS_CERT_FILE: 'an agent in a program speaks HTTP',
  AGENT_TLS_KEY_FILE: 'an agent in a program speaks HTTP',
  AGENT_LAN: 'an agent in a program answers at AGENT_HOST, and the public URLs are settings',
}

/** The names of the settings. */
export type Setting = Exclude<keyof Config, keyof typeof others | keyof typeof tracingVariables>

/** Why a variable is not a setting. */
function whyOther(name: string): string | undefined {
  if (name in tracingVariables) return 'only a daemon exports traces, of its whole process'
  return Object.hasOwn(others, name) ? others[name as keyof typeof others] : undefined
}

export type LogLevel = Config['AGENT_LOG_LEVEL']

export type InProcessOptions = {
  /** Values by the names of the variables. Default: those of docs/operate/configuration.md, and free ports. */
  settings?: Partial<Readonly<Record<Setting, string | number | boolean | undefined>>> | undefined
  /**
   * The data folder, which is created if it is missing, and stays. Default: a temporary folder, which `close`
   * removes.
   */
  dataDir?: string | undefined
  /**
   * Gets each line of the log, one JSON object. Default: no log, unless `AGENT_LOG_LEVEL` is set; then
   * standard error.
   */
  log?: { write(line: string): unknown } | undefined
}

export type InProcess = Served & { dataDir: string; adminKey: string; apiKey: string | undefined }

/**
 * Starts an agent with both servers in this process.
 *
 * @throws {StartError} with the name of the wrong option. Nothing is left then.
 */
export async function startInProcess(options: InProcessOptions = {}): Promise<InProcess> {
  const { settings = {}, dataDir, log } = options
  const given = toVariables(settings)
  if (dataDir !== undefined && (typeof dataDir !== 'string' || dataDir === ''))
    throw new StartError('dataDir: it is not the path of a folder.', 2)
  const folder = dataDir ?? mkdtempSync(join(tmpdir(), 'identity-agent-'))
  const undo: Undo[] = [() => dataDir ?? rmSync(folder, { recursive: true, force: true })]
  let closed: Promise<void> | undefined
  try {
    const adminKey = given['ADMIN_TOKEN'] ?? newApiKey()
    const usual = {
      AGENT_HTTP_PORT: '0',
      AGENT_DIDCOMM_PORT: '0',
      AGENT_LOG_LEVEL: log === undefined ? 'silent' : 'info',
    }
    const own = { AGENT_DATA_DIR: folder, AGENT_CONFIG_DIR: folder }
    const { config } = fitOpenFiles(readConfig({ ...usual, ...given, ...own }))
    const { AGENT_LOG_LEVEL: level } = config
    const lines = log && { write: (line: string) => void log.write(line) }
    const release = lockDataFolder(folder, 'dataDir')
    undo.push(release)
    const withKey = { ...config, ADMIN_TOKEN: config.ADMIN_TOKEN ?? new Secret(adminKey) }
    const served = await serveAgent(withKey, lines ? createLog(level, lines) : openLog(level))
    undo.push(served.close)
    return {
      ...served,
      dataDir: folder,
      adminKey,
      apiKey: served.agent.defaultApiKey?.reveal(),
      close: () => (closed ??= undoAll(undo)),
    }
  } catch (error) {
    await undoAll(undo)
    throw error
  }
}

/** Settings as variables. @throws {StartError} */
function toVariables(settings: Readonly<Record<string, unknown>>): Record<string, string> {
  const wrong = (name: string, reason: string) => new StartError(`settings.${name}: ${reason}.`, 2)
  const given: Record<string, string> = {}
  for (const [name, value] of Object.entries(settings)) {
    const reason = whyOther(name)
    if (reason !== undefined) throw wrong(name, `it cannot be set here: ${reason}`)
    if (!Object.hasOwn(variables, name))
      throw wrong(name, 'it is not the name of a setting; docs/operate/configuration.md has them all')
    if (value === undefined) continue
    if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean')
      throw wrong(name, 'it is neither a text, a number, true nor false')
    given[name] = String(value)
  }
  return given
}
