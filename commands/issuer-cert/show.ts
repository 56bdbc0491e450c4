import * as Flags from '@oclif/core/flags'
import { defineCommand } from '../../cli/define-command.ts'
import { UsageError } from '../../cli/errors/errors.ts'
import { type Certificate, certificateFields } from '../../cli/format/issuer-certificate.ts'
import { idOf } from '../../cli/input/arguments.ts'

export default defineCommand({
  summary: 'Show an issuer certificate, its signing request or its root',
  examples: [
    'agent issuer-cert show <id>',
    'agent issuer-cert show <id> --csr > request.csr',
    'agent issuer-cert show <id> --root > root.pem',
  ],
  args: idOf('issuer certificate'),
  flags: {
    csr: Flags.boolean({
      description: 'print the certificate signing request in PEM',
      exclusive: ['root'],
    }),
    root: Flags.boolean({ description: 'print the root in PEM, which verifiers import' }),
  },
  async run({ args, flags, call, log, print }) {
    const shown = await call('GET /issuer-certificates/{id}', { path: { id: args.id } })
    if (!flags.csr && !flags.root) {
      print(shown.id, certificateFields(shown))
      return shown
    }
    const pem = flags.csr ? shown.request : shown.root
    if (pem === undefined) throw new UsageError(flags.csr ? noRequest : noRoot(shown))
    log(pem)
    return shown
  },
})

const noRequest = 'This certificate has no request: the development authority signed it.'

function noRoot({ id, x5c }: Certificate): string {
  return x5c === undefined
    ? `This key has no certificate yet. Import its chain: agent issuer-cert import ${id} <file>.`
    : 'The imported chain does not include its root: ask the authority for it.'
}
