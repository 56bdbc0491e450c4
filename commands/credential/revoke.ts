import { defineCommand } from '../../cli/define-command.ts'
import { credentialFields } from '../../cli/format/records.ts'
import { idOf, yesFlag } from '../../cli/input/arguments.ts'
import { confirm } from '../../cli/prompts/ask.ts'
import { whichRecord } from '../../cli/prompts/questions.ts'

export default defineCommand({
  summary: 'Revoke a credential permanently (issuer)',
  description:
    'Takes effect at once: verifiers see it in the status list, and the holder is notified. Asks for confirmation; in scripts use --yes.',
  examples: ['agent credential revoke <id>', 'agent credential revoke <id> --yes'],
  args: idOf('credential record'),
  flags: { yes: yesFlag },
  questions: { id: whichRecord('credential', 'credential revoke') },
  async run({ args, flags, call, print }) {
    if (!flags.yes) await confirm(`Revoke the credential of ${args.id}? This cannot be undone.`)
    await call('PATCH /credential-status/revoke-credential/{id}', { path: { id: args.id } })
    const record = await call('GET /issue-credentials/records/{recordId}', {
      path: { recordId: args.id },
    })
    print(record.recordId, credentialFields(record))
    return record
  },
})
