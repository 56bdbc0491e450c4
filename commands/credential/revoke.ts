import * as Flags from '@oclif/core/flags'
import { defineCommand } from '../../cli/define-command.ts'
import { credentialFields } from '../../cli/format/records.ts'
import { idOf, yesFlag } from '../../cli/input/arguments.ts'
import { confirm } from '../../cli/prompts/ask.ts'
import { whichRecord } from '../../cli/prompts/questions.ts'

export default defineCommand({
  summary: 'Revoke a credential permanently (issuer)',
  description:
    'Takes effect at once: verifiers see it in the status list, and the holder is notified. Revokes all copies of a wallet of OpenID4VCI. Asks for confirmation; in scripts use --yes.',
  examples: [
    'agent credential revoke <id>',
    'agent credential revoke <id> --yes',
    'agent credential revoke <id> --renewal-only',
  ],
  args: idOf('credential record'),
  flags: {
    yes: yesFlag,
    'renewal-only': Flags.boolean({
      description: 'the credential stays valid until it ends, but the wallet cannot renew it (OpenID4VCI)',
    }),
  },
  questions: { id: whichRecord('credential', 'credential revoke') },
  async run({ args, flags, call, print }) {
    const isRenewal = flags['renewal-only']
    const what = isRenewal ? 'End the renewal of' : 'Revoke'
    if (!flags.yes) await confirm(`${what} the credential of ${args.id}? This cannot be undone.`)
    await call('PATCH /credential-status/revoke-credential/{id}', {
      path: { id: args.id },
      query: isRenewal ? { renewalOnly: 'true' } : {},
    })
    const record = await call('GET /issue-credentials/records/{recordId}', {
      path: { recordId: args.id },
    })
    print(record.recordId, credentialFields(record))
    return record
  },
})
