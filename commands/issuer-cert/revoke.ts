import { defineCommand } from '../../cli/define-command.ts'
import { certificateFields } from '../../cli/format/issuer-certificate.ts'
import { idOf, yesFlag } from '../../cli/input/arguments.ts'
import { confirm } from '../../cli/prompts/ask.ts'

export default defineCommand({
  summary: 'Revoke a certificate for development that has a profile',
  description:
    'The list of its authority names it, and its key signs nothing more. Verifiers that read the list refuse all documents that the key has signed. `agent issuer-cert renew` then makes another key. Asks for confirmation; in scripts use --yes.',
  examples: ['agent issuer-cert revoke <id>', 'agent issuer-cert revoke <id> --yes'],
  args: idOf('issuer certificate'),
  flags: { yes: yesFlag },
  async run({ args, flags, call, print, suggest }) {
    if (!flags.yes)
      await confirm(
        `Revoke the issuer certificate ${args.id}, and so what it has signed? This cannot be undone.`,
      )
    const revoked = await call('POST /issuer-certificates/{id}/revocation', { path: { id: args.id } })
    print(revoked.id, certificateFields(revoked))
    suggest(`agent issuer-cert renew ${revoked.id}   # a new key with a new certificate`)
    return revoked
  },
})
