import * as Flags from '@oclif/core/flags'
import { defineCommand } from '../../cli/define-command.ts'
import { CommandError } from '../../cli/errors/errors.ts'
import { inStyle } from '../../cli/format/colour.ts'

export default defineCommand({
  summary: 'Verify that the audit log has not been altered',
  description:
    'Prints the head: the number and the digest of the newest entry. Keep it elsewhere: with --head, a later verification also detects that the newest entries were removed. Exits with 1 if the log was altered. Needs the administrator’s key.',
  examples: [
    'agent audit verify',
    'agent audit verify --quiet > head',
    'agent audit verify --head 42:<digest>',
  ],
  flags: {
    head: Flags.string({ description: 'head that an earlier verification printed' }),
  },
  timeoutMs: 600_000,
  async run({ flags, isJson, call, print, logJson }) {
    const verification = await call('GET /audit/verification', { query: { head: flags.head } })
    const { isIntact, entries, head, fault, noted } = verification
    print(head ?? '', [
      ['audit log', isIntact ? inStyle('good', 'intact') : inStyle('bad', 'altered')],
      ['entries', entries],
      ['head', head],
      ['noted head', noted],
    ])
    if (isIntact) return verification
    if (isJson) logJson(verification)
    const reason = fault
      ? `entry ${fault.sequence}: ${fault.reason}`
      : 'the head that was noted is missing: the newest entries were cut off, or all of them replaced'
    throw new CommandError(
      `The audit log was altered: ${reason}.`,
      1,
      fault ? `agent audit list --json   # what is around ${fault.sequence}` : undefined,
    )
  },
})
