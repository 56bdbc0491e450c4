/**
 * Has Node load TypeScript, each file for itself, as the bundle has it: `node --import ./bench/_typescript.js …`. tsx, which is meant for programs that are written
 * just now, keeps the names of functions, and that makes every function inside of a function cost a microsecond whenever it is made.
 */
import { register } from 'node:module'

register('./_typescript-hooks.js', import.meta.url)
