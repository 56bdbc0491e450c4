/** Starts the daemon of a profile for a command of a person that has found none. */
import { fileURLToPath } from 'node:url'
import * as z from 'zod'
import { tryParseJson } from '../../src/foundation/json.ts'
import { readRunning } from '../../src/foundation/running.ts'
import { type Access, defaultUrl, findDataDir, fromProcess, toBase } from '../client/settings.ts'
import { CommandError } from '../errors/errors.ts'
import { forSameDaemon } from '../format/next.ts'
import { askYes, canAsk } from '../prompts/ask.ts'
import { isLoopback } from '../qr/link.ts'
import { findDaemon } from './find.ts'

const program = fileURLToPath(new URL('../bin/agent.cjs', import.meta.url))

type Flags = { json?: boolean; quiet?: boolean | undefined; profile?: string | undefined }

/**
 * Asks whether to start the daemon of the profile, and starts it. False in scripts, for a daemon elsewhere,
 * for a service, and when the answer is no.
 *
 * @throws {CommandError} with the reason and the exit code of `agent daemon start`; 130 on Ctrl-C
 */
export async function offerStart(
  { profile, url }: Access,
  { profile: name, ...flags }: Flags,
): Promise<boolean> {
  const isOwn = profile ? profile.kind === 'local' && toBase(profile.url) === url : url === defaultUrl
  if (!isOwn || !isLoopback(url) || !isWithPerson(flags)) return false
  const dataDir = profile?.kind === 'local' ? profile.dataDir : findDataDir({ profile: name }, fromProcess())
  // A service is started by its manager, and a daemon that runs has another fault.
  if (readRunning(dataDir)?.service || (await findDaemon(dataDir))) return false
  if (!(await askYes('The daemon is not running. Start it now?'))) return false
  process.stderr.write('Starting the daemon …\n')
  const started = await start([
    ...(profile ? ['--data-dir', dataDir] : []),
    ...(name === undefined ? [] : ['--profile', name]),
  ])
  const stop = forSameDaemon('agent daemon stop', { profile: name })
  process.stderr.write(`The daemon runs at ${started.url}. To stop it: ${stop}\n\n`)
  return true
}

/** True if a person reads the output and can answer. */
function isWithPerson(flags: Flags): boolean {
  const { CI = '' } = process.env
  return canAsk(flags) && process.stdout.isTTY && ['', '0', 'false'].includes(CI.toLowerCase())
}

const Started = z.object({ url: z.string() })
const Failed = z.object({ title: z.string(), hint: z.string().optional(), exitCode: z.number() })

/** Runs `agent daemon start`, whose result and errors are JSON. */
async function start(args: readonly string[]): Promise<z.output<typeof Started>> {
  // Other commands do not load it.
  const { execFile } = await import('node:child_process')
  const line = [program, 'daemon', 'start', '--json', ...args]
  return new Promise((resolve, reject) => {
    execFile(process.execPath, line, (error, stdout, stderr) => {
      const started = Started.safeParse(tryParseJson(stdout))
      if (!error && started.success) return resolve(started.data)
      const { data } = Failed.safeParse(tryParseJson(stderr.trim().split('\n').at(-1) ?? ''))
      reject(
        new CommandError(
          data?.title ?? 'The daemon did not start.',
          data?.exitCode ?? 1,
          data?.hint ?? 'agent daemon start',
        ),
      )
    })
  })
}
