/**
 * Keeps the messages of zod as the program sets them. Libraries of others replace them for all code in the
 * process when they are loaded, and test files share processes.
 */
import * as z from 'zod'
import { describeIssue } from '../../src/foundation/plain-issues.ts'

const settings = { localeError: describeIssue, customError: undefined }
for (const [name, value] of Object.entries(settings))
  Object.defineProperty(z.config(), name, { configurable: true, get: () => value, set: () => {} })
