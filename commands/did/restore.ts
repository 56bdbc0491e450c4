import * as Flags from '@oclif/core/flags'
import { defineCommand } from '../../cli/define-command.ts'
import { shownDid } from '../../cli/format/records.ts'
import { repeatable } from '../../cli/input/arguments.ts'
import { keyMethods, namesOf } from '../../src/definitions/did-names.ts'

export default defineCommand({
  summary: 'Restore the published DIDs of the wallet’s seed from the ledger',
  description:
    'Keys that are not derived from the seed cannot be restored. Their signatures stay valid; replace them by new keys. On a NeoPRISM node, finds only DIDs that were created with a master key alone.',
  examples: [
    'agent did restore',
    'agent did restore --api-key-file tenant.key',
    'agent did restore --did did:jwk:…',
  ],
  flags: {
    did: Flags.string({
      ...repeatable,
      description: `a ${namesOf(keyMethods)}, which no ledger lists, to restore instead`,
    }),
  },
  timeoutMs: 600_000,
  async run({ flags, call, printList, suggest }) {
    const answer = await call('POST /did-registrar/restorations', { body: { dids: flags.did } })
    printList(
      answer.restored,
      ({ did }) => did,
      [
        { head: 'did', of: ({ did }) => did, cut: 'middle' },
        { head: 'state', of: shownDid },
        { head: 'missing keys', of: ({ missingKeys }) => missingKeys.join(', ') || 'none', cut: 'end' },
      ],
      'Nothing was found that the wallet does not have.',
    )
    const incomplete = answer.restored.find(
      ({ missingKeys, deactivated }) => missingKeys.length > 0 && !deactivated,
    )
    if (incomplete)
      suggest(
        `agent did update ${incomplete.did} --remove-key ${incomplete.missingKeys[0]} --add-key <id>:<purpose>   # a new key`,
      )
    else if (answer.restored.length > 0) suggest('agent did list')
    return answer
  },
})
