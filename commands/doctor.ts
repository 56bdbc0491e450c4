import * as Flags from '@oclif/core/flags'
import { connectDaemon } from '../cli/client/api.ts'
import { childEnv, findDataDir, fromProcess, type Access } from '../cli/client/settings.ts'
import { defineCommand, type Context } from '../cli/define-command.ts'
import {
  type Check,
  checkDaemon,
  checkNode,
  checkProfile,
  checkTenantKey,
  deepTimeoutMs,
  examine,
  examineAtRest,
  render,
} from '../cli/doctor.ts'
import { forProfile } from '../cli/format/next.ts'
import { StartError } from '../src/foundation/start-error.ts'
import packageJson from '../package.json' with { type: 'json' }

type DoctorContext = Context<object, { deep: boolean }>

export default defineCommand({
  summary: 'Check the program, daemon and ledger, and suggest repairs',
  description:
    'Exits with 0 if no check failed (warnings are allowed), 7 if no daemon answers, 4 if a key is not accepted, otherwise 1. With the administrator’s key, includes the daemon’s own checks. If no daemon answers, checks its data folder on this machine.',
  examples: [
    'agent doctor',
    'agent doctor --deep',
    'agent doctor --json | jq ".checks[] | select(.status != \\"ok\\")"',
  ],
  flags: {
    deep: Flags.boolean({
      description: 'check the integrity of every database file; takes up to ten minutes',
    }),
  },
  async run(context) {
    const { flags, isQuiet, log, paint, width } = context
    const { AGENT_CONFIG_DIR, AGENT_PROFILE } = fromProcess()
    const here = [
      checkNode(process.version, packageJson.engines.node),
      checkProfile(AGENT_CONFIG_DIR, flags.profile ?? AGENT_PROFILE),
    ]
    const access = findAccess(context)
    const found = access ? [...here, ...(await checkThere(context, access))] : here
    const checks = found.map(({ hint, ...check }) =>
      hint === undefined ? check : { ...check, hint: forSameProfile(context, hint) },
    )
    const bad = checks.filter(({ status }) => status !== 'ok')
    if (!isQuiet) log(render(checks, paint, width))
    else if (bad.length > 0) log(bad.map(({ name }) => name).join('\n'))
    process.exitCode = exitCodeOf(checks)
    return { checks }
  },
})

/** The address of the daemon; undefined when the profile cannot be read, which is a check of its own. */
function findAccess({ getAccess }: Context): Access | undefined {
  try {
    return getAccess()
  } catch (error) {
    if (error instanceof StartError) return undefined
    throw error
  }
}

async function checkThere(context: DoctorContext, { url, adminKey, apiKey }: Access): Promise<Check[]> {
  const { flags, getAccess } = context
  // A check must not start the daemon, as other commands offer to.
  const { call } = connectDaemon(getAccess, flags.deep ? deepTimeoutMs : undefined)
  const daemon = await checkDaemon(call, url, packageJson.version)
  if (daemon.status === 'failed') return [daemon, ...(await checkDataFolder(context))]
  return [
    daemon,
    await checkTenantKey(call, apiKey !== undefined),
    ...(await examine(call, adminKey !== undefined, flags.deep)),
  ]
}

/**
 * Checks the data folder. An address that was given, or on another machine, does not tell which folder that
 * is.
 */
async function checkDataFolder({ getAccess, flags }: DoctorContext): Promise<Check[]> {
  const around = fromProcess()
  const { profile } = getAccess()
  const isGiven = flags.url !== undefined || (flags.profile === undefined && around.AGENT_URL !== undefined)
  if (isGiven || profile?.kind === 'remote') return []
  return examineAtRest(
    childEnv({
      AGENT_DATA_DIR: findDataDir(flags, around),
      AGENT_PROFILE: flags.profile ?? around.AGENT_PROFILE,
    }),
    flags.deep,
  )
}

/** Adds the profile to a suggested command. */
function forSameProfile({ flags, forSameDaemon }: Context, hint: string): string {
  const ofDaemon = forProfile(hint, flags.profile)
  return ofDaemon === hint ? forSameDaemon(hint) : ofDaemon
}

function exitCodeOf(checks: readonly Check[]): number {
  const failed = checks.filter(({ status }) => status === 'failed').map(({ name }) => name)
  if (failed.includes('daemon')) return 7
  if (failed.includes('tenant-key') || failed.includes('admin-key')) return 4
  return failed.length > 0 ? 1 : 0
}
