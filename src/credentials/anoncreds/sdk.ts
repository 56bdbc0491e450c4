/**
 * The loader in the SDK of Identus. It is CommonJS, since the WebAssembly asks `module` for the random
 * numbers of Node.js. In the built program, `dist/daemon/anoncreds.cjs` stands for this file.
 */
import { createRequire } from 'node:module'
import type { Library } from './library.ts'

/** The two fields are private to the SDK, whose version is therefore pinned. */
type Loader = { new (): { createLinksecret(): Promise<string> }; instance?: { pkg?: Library } }

export const { AnoncredsLoader } = createRequire(import.meta.url)(
  '@hyperledger/identus-sdk/plugins/anoncreds',
) as { AnoncredsLoader: Loader }
