import { Module } from '@nestjs/common';
import { CodecController } from './codec.controller.js';
import { CodecService } from './codec.service.js';

@Module({ controllers: [CodecController], providers: [CodecService] })
export class CodecModule {}
