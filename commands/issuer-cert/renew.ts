import { defineCommand } from '../../cli/define-command.ts'
import { certificateFields } from '../../cli/format/issuer-certificate.ts'
import { idOf } from '../../cli/input/arguments.ts'

export default defineCommand({
  summary: 'Renew a certificate for development, with a new key',
  description:
    'The same authority signs a new certificate; the id stays, so issuers use it at once. The old key is deleted. What it has signed stays valid. A chain of another authority is renewed by `agent issuer-cert import`.',
  examples: ['agent issuer-cert renew <id>'],
  args: idOf('issuer certificate'),
  async run({ args, call, print, say }) {
    const path = { id: args.id }
    const { root } = await call('GET /issuer-certificates/{id}', { path })
    const renewed = await call('POST /issuer-certificates/{id}/renewal', { path })
    print(renewed.id, certificateFields(renewed))
    if (renewed.root !== root)
      say('The authority ends before the certificate would, so there is a new root: give it to verifiers.')
    return renewed
  },
})
