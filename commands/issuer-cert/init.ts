import { defineCommand } from '../../cli/define-command.ts'
import { certificateFields, subjectFlags, toCertificateInput } from '../../cli/format/issuer-certificate.ts'

export default defineCommand({
  summary: 'Create an issuing key with a certificate for development',
  description:
    'The wallet’s own development authority signs the certificate; the first call makes that authority. Only verifiers that import its root trust the certificate. With --for mdoc the authority is the root (IACA) of a country and province, and the certificate that of a document signer. For production use `agent issuer-cert request`.',
  examples: [
    'agent issuer-cert init --name Acme --uri https://issuer.example/acme',
    'agent issuer-cert init --for mdoc --country UT --name "Utopia Licences"',
  ],
  flags: subjectFlags,
  async run({ flags, call, print, say, suggest }) {
    const made = await call('POST /issuer-certificates/development', { body: toCertificateInput(flags) })
    print(made.id, certificateFields(made))
    say('This certificate is for development: only verifiers that import the root of this wallet trust it.')
    suggest(`agent issuer-cert show ${made.id} --root > root.pem   # for the verifiers`)
    return made
  },
})
