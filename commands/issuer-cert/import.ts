import { defineCommand } from '../../cli/define-command.ts'
import { UsageError } from '../../cli/errors/errors.ts'
import { certificateFields } from '../../cli/format/issuer-certificate.ts'
import { argument, idOf } from '../../cli/input/arguments.ts'
import { readInput } from '../../cli/input/files.ts'
import { systemReason } from '../../src/foundation/system-reason.ts'

export default defineCommand({
  summary: 'Import the certificate of an issuing key, with its chain',
  description:
    'The file has certificates in PEM: first the one for the request, each one signed by the next. The root may be the last. The chain that the key has is replaced. Certificates of a profile must have what it requires; warnings say what it recommends.',
  examples: [
    'agent issuer-cert import <id> chain.pem',
    'cat leaf.pem intermediate.pem | agent issuer-cert import <id> -',
  ],
  args: {
    ...idOf('issuer certificate'),
    file: argument('file of the chain in PEM, - for standard input'),
  },
  async run({ args, call, print }) {
    const certificate = await call('PUT /issuer-certificates/{id}/chain', {
      path: { id: args.id },
      body: { chain: readChain(args.file) },
    })
    print(certificate.id, certificateFields(certificate))
    return certificate
  },
})

function readChain(path: string): string {
  try {
    return readInput(path)
  } catch (error) {
    if (error instanceof UsageError) throw error
    throw new UsageError(`${path} cannot be read: ${systemReason(error)}.`)
  }
}
