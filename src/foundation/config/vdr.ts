/** The variables of the verifiable data registry: the DID ledger, and the drivers of VDR entries. */
import * as z from 'zod'
import { count, flag, ledger, seconds } from './values.ts'

// prettier-ignore
export const vdrVariables = {
  VDR_URL:                              ledger.optional()      .describe('The DID ledger: `sqlite:<path>`, which several daemons may share, or the base URL of a NeoPRISM node or of another agent. Default: `vdr.db` in the data folder.'),
  VDR_CONFIRM_AFTER:                    seconds.default(0)     .describe('Time after which the embedded ledger confirms an operation.'),
  VDR_SERVE:                            flag.optional()        .describe('Whether the embedded ledger is served at `/api`, as a NeoPRISM node does. Clients need no credentials to submit DID operations. Default: only if the whole deployment is on this machine.'),
  VDR_SUBMISSIONS_PER_MINUTE:           count.default(600)     .describe('DID operations that the served ledger accepts from one address in a minute. Further ones are answered with 429.'),
  VDR_OPERATION_BYTES:                  z.coerce.number().int().min(1_024).max(64_000).default(32_768)
                                                               .describe('Bytes of the largest DID operation that the served ledger accepts, 1024 to 64000. Larger ones are answered with 400.'),
  VDR_BYTES:                            z.coerce.number().int().min(1_048_576).default(1_073_741_824)
                                                               .describe('Bytes of the ledger file above which the served ledger answers submissions with 507, at least 1048576. The agent’s own wallets can still publish.'),
  VDR_DATABASE_DRIVER_ENABLED:          flag.default(true)     .describe('Whether tenants can create VDR entries in the agent’s database (`POST /vdr/entries?drid=database`).'),
  VDR_MEMORY_DRIVER_ENABLED:            flag.default(false)    .describe('Whether tenants can create VDR entries in memory, which a restart deletes. Only for an agent of one process.'),
  VDR_LEDGER_DRIVER_ENABLED:            flag.default(true)     .describe('Whether tenants can create VDR entries on the DID ledger, signed with a VDR key of a DID.'),
  VDR_STATUS_LISTS:                     flag.default(false)    .describe('Whether new status lists of credentials are VDR entries on the DID ledger. The wallet needs a VDR key. Issued credentials keep their lists.'),
  VDR_ENTRY_BYTES:                      z.coerce.number().int().min(1).max(1_048_576).default(65_536)
                                                               .describe('Bytes of the largest VDR entry, 1 to 1048576. Larger ones are answered with 413.'),
  VDR_ENTRIES_PER_WALLET:               count.default(1_000)   .describe('VDR entries of a wallet in the database, and as many in memory. Further ones are answered with 507.'),
  VDR_READS_PER_MINUTE:                 count.default(600)     .describe('VDR entries, proofs and operations that one address reads in a minute. Further requests are answered with 429.'),
} satisfies Record<string, z.ZodType>

type Given = {
  AGENT_DATABASE_URL?: unknown
  VDR_MEMORY_DRIVER_ENABLED: boolean
  VDR_LEDGER_DRIVER_ENABLED: boolean
  VDR_STATUS_LISTS: boolean
}

type Wrong = { name: string; reason: string; remedy: string }

export function findWrongVdr(config: Given): Wrong[] {
  return [...findWrongMemory(config), ...findWrongLists(config)]
}

function findWrongLists({ VDR_STATUS_LISTS: lists, VDR_LEDGER_DRIVER_ENABLED: ledger }: Given): Wrong[] {
  if (!lists || ledger) return []
  return [
    {
      name: 'VDR_STATUS_LISTS',
      reason: 'is true, and VDR_LEDGER_DRIVER_ENABLED is false: the lists are entries of that driver',
      remedy: 'Enable the driver, or leave VDR_STATUS_LISTS out.',
    },
  ]
}

/** Entries in the memory of one process do not exist for the others. */
function findWrongMemory(config: Given): Wrong[] {
  if (!config.VDR_MEMORY_DRIVER_ENABLED || config.AGENT_DATABASE_URL === undefined) return []
  return [
    {
      name: 'VDR_MEMORY_DRIVER_ENABLED',
      reason:
        'is true, and AGENT_DATABASE_URL is set: the entries would be in the memory of one of several nodes',
      remedy: 'Use the database driver, which all nodes share (VDR_DATABASE_DRIVER_ENABLED).',
    },
  ]
}
