import { defineCommand } from '../../cli/define-command.ts'
import { certificateFields, subjectFlags, toCertificateInput } from '../../cli/format/issuer-certificate.ts'

export default defineCommand({
  summary: 'Create an issuing key with a certificate signing request',
  description:
    'An authority signs the request. `agent issuer-cert import` takes the certificate that it returns, with its chain. The private key stays in the wallet. With --for the request asks for the extended key usage of that profile.',
  examples: [
    'agent issuer-cert request --name Acme --organization "Acme Ltd" --country DE --dns issuer.example',
    'agent issuer-cert request --for mdoc --country DE --name "Acme Licences"',
  ],
  flags: subjectFlags,
  async run({ flags, call, print, suggest }) {
    const made = await call('POST /issuer-certificates', { body: toCertificateInput(flags) })
    print(made.id, certificateFields(made))
    suggest(`agent issuer-cert show ${made.id} --csr > request.csr   # for the authority`)
    return made
  },
})
