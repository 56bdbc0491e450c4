import { defineCommand } from '../../cli/define-command.ts'
import { certificateFields, subjectFlags, toCertificateInput } from '../../cli/format/issuer-certificate.ts'

export default defineCommand({
  summary: 'Create an issuing key with a certificate signing request',
  description:
    'An authority signs the request. `agent issuer-cert import` takes the certificate that it returns, with its chain. The private key stays in the wallet.',
  examples: [
    'agent issuer-cert request --name Acme --organization "Acme Ltd" --country DE --dns issuer.example',
  ],
  flags: subjectFlags,
  async run({ flags, call, print, suggest }) {
    const made = await call('POST /issuer-certificates', { body: toCertificateInput(flags) })
    print(made.id, certificateFields(made))
    suggest(`agent issuer-cert show ${made.id} --csr > request.csr   # for the authority`)
    return made
  },
})
