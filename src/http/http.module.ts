import { Module } from '@nestjs/common';
import { RepeatableReplies } from './repeatable-replies.js';

@Module({ providers: [RepeatableReplies], exports: [RepeatableReplies] })
export class HttpModule {}
