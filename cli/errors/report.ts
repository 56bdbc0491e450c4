/** Turns an error into a report: what happened, why, the command that helps, and the exit code. */
import { systemReason } from '../../src/foundation/system-reason.ts'
import { fold, safe, widthOf, wrap } from '../format/text.ts'
import { inCommands } from './operations.ts'

/** An error as `--json` prints it on standard error. */
export type Report = {
  /** The type of the problem if the daemon has answered with one, otherwise a name of the command line. */
  code: string
  title: string
  detail?: string | undefined
  status?: number | undefined
  /** A command to run next. */
  hint?: string | undefined
  exitCode: number
}

/** A problem (RFC 9457). */
export type ProblemBody = {
  status: number
  type: string
  title?: string | undefined
  detail?: string | undefined
}

/** Exit codes by the last part of a problem’s type. All others follow from the HTTP status. */
// prettier-ignore
const byType: [exitCode: number, type: RegExp][] = [
  [5, /^(InvalidStateForOperation|InvalidFlowStateError|InvitationAlreadyReceived|InvitationExpired|InvalidRoleForOperation|Conflict|Not Allowed)$/],
  [5, /^(challenge-not-successful|token-expired|submission-refused|RetrievalFailed)$/],
  [8, /^(invalid-challenge-response|foreign-challenge)$/],
  [5, /^(Duplicated\w+|\w+AlreadyExists|AuthenticationCompromised|TooMany\w+)$/],
  [8, /^(InvalidPresentation|InvalidCredentialIssue|HolderBindingError|\w*VerificationFailed)$/],
]

export function exitCodeOf({ status, type }: Pick<ProblemBody, 'status' | 'type'>): number {
  const name = type.split(/[:/]/).at(-1)!
  const known = byType.find(([, pattern]) => pattern.test(name))
  if (known) return known[0]
  if (status === 401 || status === 403) return 4
  if (status === 404 || status === 410) return 3
  if (status === 408 || status === 504) return 6
  if (status === 409) return 5
  return status >= 400 && status < 500 ? 2 : 1
}

/** Makes a report of any thrown value. `commandId` is the id of oclif, such as `credential:accept`. */
export function toReport(error: unknown, commandId: string): Report {
  const { name, message } = error instanceof Error ? error : { name: 'Error', message: String(error) }
  const own = error as { exitCode?: unknown; hint?: string | undefined; oclif?: { exit?: number } }
  const problem = findProblem(error)
  if (problem) {
    const { status, type } = problem
    const detail = problem.detail === undefined ? undefined : inCommands(problem.detail)
    return {
      code: type,
      title: problem.title ?? type,
      detail,
      status,
      hint: own.hint ?? hintFor(problem, commandId) ?? explanationOf(type),
      exitCode: exitCodeOf(problem),
    }
  }
  switch (name) {
    case 'DaemonUnreachable':
      return unreachable(error as DaemonUnreachable)
    case 'UsageError':
      return {
        code: 'Usage',
        title: message,
        hint: own.hint ?? `agent ${commandId.replaceAll(':', ' ')} --help`,
        exitCode: 2,
      }
    case 'StartError':
    case 'CommandError':
      return { code: name, title: message, hint: own.hint, exitCode: Number(own.exitCode) }
    default:
      if (own.oclif)
        return {
          code: 'Usage',
          title: message.replace(/\n?See more help with --help$/, ''),
          exitCode: own.oclif.exit ?? 2,
        }
      return { code: 'Bug', title: 'Unexpected error (please report)', detail: message, exitCode: 1 }
  }
}

/**
 * Prints a report on standard error, as JSON with `--json`. With DEBUG, prints the stack of an unexpected
 * error too.
 */
export function printReport(report: Report, isJson: boolean, error?: unknown): void {
  const { isTTY, columns } = process.stderr
  const text = isJson ? JSON.stringify(report) : renderReport(report, isTTY ? columns : undefined)
  process.stderr.write(`${text}\n`)
  if (process.env['DEBUG'] && report.code === 'Bug' && error instanceof Error)
    process.stderr.write(`${error.stack}\n`)
}

/** Formats a report for people. Details may quote a peer, so control characters are removed. */
export function renderReport({ title, detail, hint }: Report, columns?: number): string {
  const lines = wrapped(`Error: ${safe(title)}`, '', columns)
  if (detail !== undefined && detail !== title) lines.push(...wrapped(safe(detail), '  ', columns))
  if (hint !== undefined)
    lines.push(hint.startsWith('agent ') ? `  Try: ${hint}` : fold(`  Try: ${hint}`, columns))
  return lines.join('\n')
}

/** Breaks lines at spaces, where a terminal breaks inside words. Lists of candidates keep their lines. */
function wrapped(text: string, indent: string, columns = Infinity): string[] {
  return text.split('\n').flatMap((line) => {
    const room = columns - indent.length
    const lines = widthOf(line) <= room ? [line] : wrap(line, room)
    return lines.map((each) => `${indent}${each}`)
  })
}

function findProblem(error: unknown): ProblemBody | undefined {
  const { problem } = (error ?? {}) as { problem?: Partial<ProblemBody> }
  if (error instanceof Error && error.name === 'ProblemError' && typeof problem?.status === 'number') {
    return { ...problem, status: problem.status, type: problem.type ?? `HTTP ${problem.status}` }
  }
  return undefined
}

type DaemonUnreachable = Error & { url: string }

function unreachable({ url, cause }: DaemonUnreachable): Report {
  const { name, code, message = '' } = (cause ?? {}) as { name?: string; code?: unknown; message?: string }
  if (name === 'CertificateChanged')
    return {
      code: 'CertificateChanged',
      title: `Another server than before answers at ${url}`,
      detail: `${(cause as Error).message} No key was sent.`,
      hint: 'agent daemon status   # on the machine of the daemon: compare the fingerprint',
      exitCode: 7,
    }
  if (name === 'TimeoutError')
    return {
      code: 'Timeout',
      title: `The daemon at ${url} did not answer in time`,
      hint: 'agent daemon logs',
      exitCode: 6,
    }
  if (/wrong version number/.test(message))
    return {
      code: 'DaemonUnreachable',
      title: `The server at ${url} speaks http, not https`,
      hint: `give its address with http: --url ${url.replace(/^https/, 'http')}`,
      exitCode: 7,
    }
  const isHere = /^https?:\/\/(localhost|127\.|\[::1\])/.test(url)
  const isInLan = /^https?:\/\/(10|192\.168|172\.(1[6-9]|2\d|3[01])|100)\.[\d.]+(:|$)/.test(url)
  return {
    code: 'DaemonUnreachable',
    title: `No daemon answers at ${url}${typeof code === 'string' ? ` (${systemReason(cause)})` : ''}`,
    hint: isHere
      ? 'agent daemon start'
      : isInLan
        ? 'agent daemon restart   # a daemon of this machine, if the network has changed; otherwise check --url, AGENT_URL or the profile'
        : 'check --url, AGENT_URL or the profile, and whether the daemon runs there',
    exitCode: 7,
  }
}

function hintFor(problem: ProblemBody, commandId: string): string | undefined {
  const [topic = '', verb] = commandId.split(':')
  const administers = topic === 'wallet' || topic === 'tenant'
  const about = topicOf(problem, topic)
  switch (exitCodeOf(problem)) {
    case 2:
      return isGeneral(problem) ? `agent ${commandId.replaceAll(':', ' ')} --help` : undefined
    case 3:
      if (problem.type.endsWith('CredentialConfigurationNotFound'))
        return 'agent issuer configuration list <issuer id>'
      return verb === 'list' || !listed.has(about) ? undefined : `agent ${about} list`
    case 4:
      return (
        loginHint(problem) ??
        (administers
          ? 'give the administrator’s key: AGENT_ADMIN_KEY, --admin-key-file, or the --profile of a daemon on this machine'
          : 'give a tenant’s key: AGENT_API_KEY, --api-key-file, or the --profile of a daemon on this machine; `agent tenant create` makes one')
      )
    case 5:
      return ['connection', 'credential', 'proof'].includes(about) ? `agent ${about} show <id>` : undefined
    default:
      return undefined
  }
}

/** The way out of a person who signs in with `agent login`. */
function loginHint({ type, detail = '' }: ProblemBody): string | undefined {
  if (type.endsWith('ResourceNotPermitted'))
    return detail.startsWith('No wallet')
      ? 'agent wallet create <name>'
      : 'agent wallet list   # then choose one: agent login --wallet <id>'
  if (type.endsWith('JwtAuthenticationError') || detail.startsWith('Bearer token')) return 'agent login'
  return detail.includes('bearer token')
    ? 'agent login   # or give a tenant’s key: AGENT_API_KEY, --api-key-file'
    : undefined
}

/** True for a problem whose type says only that the input is not valid. */
function isGeneral({ type }: ProblemBody): boolean {
  return /^(BadRequest|UnprocessableEntity|error:RequestBody\w+|\/errors\/common\/bad-request|HTTP \d+)$/.test(
    type,
  )
}

/**
 * The hint when there is no better one: an explanation of the type. The type comes from the daemon, so it
 * must be safe to type.
 */
function explanationOf(type: string): string | undefined {
  if (/^HTTP|^about:/.test(type) || !/^[\w:/ -]+$/.test(type)) return undefined
  return `agent explain ${type.includes(' ') ? JSON.stringify(type) : type}`
}

/** The topics with a list. */
// prettier-ignore
const listed: ReadonlySet<string> = new Set([
  'audit', 'connection', 'creddef', 'credential', 'did', 'event', 'issuer', 'issuer-cert', 'message', 'node', 'onboard',
  'policy', 'presentation-definition', 'profile', 'proof', 'schema', 'signin', 'tenant', 'trust', 'wallet', 'webhook',
])

/** The lists of what the commands of other topics are about. */
const listedBy: Readonly<Record<string, string>> = {
  dcql: 'credential',
  didcomm: 'connection',
  oid4vc: 'credential',
}

/** The topic of the resource that a problem is about. It may differ from the topic of the command. */
function topicOf({ type }: ProblemBody, topic: string): string {
  if (/DIDNotFoundInWallet$|did-not-in-wallet$/.test(type)) return 'did'
  if (type.endsWith('WalletNotFound')) return 'wallet'
  if (/ConnectionServiceError/.test(type)) return 'connection'
  if (/IssuedCredential/.test(type)) return 'credential'
  if (type.endsWith('IssuerIdNotFound')) return 'issuer'
  // Events name the threads that there are.
  if (topic === 'trace') return 'event'
  return listedBy[topic] ?? topic
}

/** Reports an error that no command has reported, and ends the process. */
export function reportCrash(error: unknown, argv: readonly string[]): never {
  const { oclif, code } = (error ?? {}) as { oclif?: { exit?: number }; code?: unknown }
  if (code === 'EEXIT') process.exit(oclif?.exit ?? 0)
  const report = outputReport(error) ?? toReport(error, '')
  printReport(report, argv.includes('--json'), error)
  // A command that does not exist is a usage error like any other.
  process.exit(report.exitCode === 127 ? 2 : report.exitCode)
}

/** The report of a failed write to standard output, such as on a full disk. */
function outputReport(error: unknown): Report | undefined {
  const { syscall, code } = (error ?? {}) as NodeJS.ErrnoException
  if (syscall !== 'write' || code === undefined) return undefined
  return { code: 'Output', title: `The output cannot be written: ${systemReason(error)}.`, exitCode: 1 }
}
